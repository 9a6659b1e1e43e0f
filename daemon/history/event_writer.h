// EventWriter: events into the tables, a transaction at a time. On the history
// thread; also writes exports and what could be read back from a damaged file.

#ifndef NANWATCH_HISTORY_EVENT_WRITER_H_
#define NANWATCH_HISTORY_EVENT_WRITER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "history/database.h"
#include "history/event_blob.h"
#include "history/picture_writer.h"
#include "history/run_catalog.h"
#include "history/schema.h"
#include "model/incident.h"

namespace nanwatch {

struct WriteItem {
  uint64_t id = 0;
  Time now{};
  const Event* event = nullptr;
};
// Ids that were applied and never stored, and why.
struct EventGap {
  uint64_t first = 0;
  uint64_t last = 0;
  std::string reason;
};
struct SentIncident {
  RunKey run;
  Incident incident;
};

class EventWriter {
 public:
  // Both must outlive this.
  EventWriter(Database& database, RunCatalog& catalog)
      : database_(database), catalog_(catalog) {}

  // Everything in one transaction: committed and synced when this returns, or
  // nothing is. Ids rise. After an error this is of no more use.
  Status Write(std::span<const WriteItem> items,
               std::span<const SentIncident> sent);
  // The catalog's last steps, whether due or not.
  Status SaveCatalog(Time now);
  // The file is back: the gap, the few events of it that were kept (`items`),
  // and all of the catalog, in one transaction. A file with half of it would
  // be taken for one that this process does not know.
  Status WriteAfterGap(const EventGap& gap, std::span<const WriteItem> items,
                       Time now);

  uint64_t bytes() const { return bytes_; }  // of blobs, ever written

 private:
  // Events of one rank that share a blob.
  struct Group {
    uint64_t first_id = 0;
    uint64_t last_id = 0;
    int64_t last_now = 0;
    int64_t count = 0;
    uint64_t place = 0;
    uint64_t records = 0;
    int64_t first_step = 0;
    int64_t last_step = 0;
    std::string plain;
  };
  using GroupKey = std::tuple<int64_t, int32_t, EventKind>;  // run, rank

  Status WriteGap(const EventGap& gap);
  // Ends the transaction that was begun, with whatever `written` says.
  Status End(Status written);
  Status WriteAll(std::span<const WriteItem> items,
                  std::span<const SentIncident> sent);
  Status WriteOne(const WriteItem& item);
  Status AddToGroup(const WriteItem& item, int64_t run, uint64_t place,
                    CatalogRun* catalog);
  Status Flush(const GroupKey& key, Group* group);
  Status WriteSent(const SentIncident& sent);
  // Where op batches stand; steps have their place from the pictures.
  Result<uint64_t> OpsPlace(int64_t run, int32_t rank, bool fresh,
                            uint64_t rows);

  Database& database_;
  RunCatalog& catalog_;
  PictureWriter pictures_;
  Compressor compressor_;
  std::map<GroupKey, Group> groups_;
  std::map<std::pair<int64_t, int32_t>, uint64_t> ops_place_;
  std::vector<int64_t> ended_;  // runs that ended in this transaction
  std::optional<Statement> insert_;
  std::string encoded_;
  uint64_t bytes_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_EVENT_WRITER_H_
