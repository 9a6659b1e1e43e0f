// EventScan: the events of a history file in the order of their ids, page by
// page, passing over what is damaged.

#ifndef NANWATCH_HISTORY_EVENT_SCAN_H_
#define NANWATCH_HISTORY_EVENT_SCAN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/event_blob.h"
#include "model/event.h"

namespace nanwatch {

class EventScan {
 public:
  using Visit = std::function<bool(const StampedEvent&)>;

  explicit EventScan(Database& database) : database_(database) {}

  // Every event with id > `after`. Ids that are missing, and neither removed by
  // retention nor a known gap, count as damaged.
  Status All(uint64_t after, const Visit& visit);
  // The events of these rows (`first_id`, rising) with id > `after`.
  Status Rows(const std::vector<int64_t>& first_ids, uint64_t after,
              const Visit& visit);

  uint64_t damaged() const { return damaged_; }
  // Of All: it ended at pages that cannot be read, with nothing behind them:
  // how many events they held nobody can say.
  bool end_is_damaged() const { return end_is_damaged_; }
  // The newest that was visited.
  uint64_t newest() const { return visited_; }

 private:
  struct Row {
    uint64_t first_id = 0;
    uint64_t last_id = 0;
    uint64_t count = 0;
    std::string body;
  };
  // A blob whose events are not all visited; blobs of one transaction overlap.
  struct Open {
    explicit Open(std::string bytes) : plain(std::move(bytes)), reader(plain) {}
    const std::string plain;
    BlobReader reader;
    StampedEvent next;
    uint64_t left = 0;  // events that should still come
  };
  struct Later {
    bool operator()(const std::unique_ptr<Open>& a,
                    const std::unique_ptr<Open>& b) const {
      return a->next.id > b->next.id;
    }
  };

  Status ReadPage(uint64_t after, uint64_t* cursor, std::vector<Row>* page);
  // Rows behind `*cursor`, which moves to the last of them. `*damaged`: came to
  // a page that cannot be read.
  Status ReadRows(uint64_t after, uint64_t* cursor, std::vector<Row>* page,
                  bool* damaged);
  // Whether the row behind `cursor` can be read.
  Status Seek(uint64_t after, uint64_t cursor, bool* damaged);
  static uint64_t MiddleKey(std::vector<Row>* page);
  // Null: its blob is damaged, or says another id.
  std::unique_ptr<Open> OpenRow(const Row& row);
  // As the columns say, within reason.
  static uint64_t EventsIn(const Row& row);
  // Visits what is open and has an id < `before`. False: `visit` has enough.
  bool VisitBefore(uint64_t before, const Visit& visit);
  bool VisitOne(std::unique_ptr<Open> open, uint64_t before,
                const Visit& visit);
  void CountMissing(uint64_t next_id);
  Status LoadGaps();

  Database& database_;
  Decompressor decompressor_;
  std::priority_queue<std::unique_ptr<Open>, std::vector<std::unique_ptr<Open>>,
                      Later>
      open_;
  std::vector<std::pair<uint64_t, uint64_t>> gaps_;
  bool count_missing_ = false;
  bool end_is_damaged_ = false;
  uint64_t after_ = 0;     // ids up to here are not wanted
  uint64_t expected_ = 0;  // the next id when counting what is missing
  uint64_t visited_ = 0;   // newest id given to visit
  uint64_t damaged_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_EVENT_SCAN_H_
