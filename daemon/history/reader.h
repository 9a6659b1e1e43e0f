// HistoryReader: reads a history file, or an export, beside its writer. Short
// read-only transactions, paged.

#ifndef NANWATCH_HISTORY_READER_H_
#define NANWATCH_HISTORY_READER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/incident.h"
#include "model/step.h"

namespace nanwatch {

// Some consecutive records of one rank, as one point of a picture.
struct StepBucket {
  int64_t first_step = 0;
  int64_t last_step = 0;
  Time first{};
  Time last{};
  uint64_t records = 0;
  uint64_t overflows = 0;
  uint64_t skipped = 0;
  struct Value {
    uint64_t count = 0;  // finite values
    double min = 0;
    double max = 0;
    double last = 0;
    uint64_t nan = 0;
    uint64_t pos_inf = 0;
    uint64_t neg_inf = 0;
  };
  using Values = std::array<Value, kStepFields>;
  Values value{};
  // What of `value` is of each optimizer, where records name theirs; else
  // empty.
  struct Part {
    std::string optimizer;  // empty: without a name
    Values value{};
  };
  std::vector<Part> parts;
};

struct StepQuery {
  RunKey run;
  int32_t rank = 0;
  int64_t from = INT64_MIN;  // steps, both ends included
  int64_t to = INT64_MAX;
  int points = 1000;  // at most; 1 .. limits::kPointsPerQuery
};

// The newest `rows` statuses of ops of one rank in the range, in the order they
// came.
struct OpQuery {
  RunKey run;
  int32_t rank = 0;
  int64_t from = INT64_MIN;
  int64_t to = INT64_MAX;
  int rows = 1000;
  bool bad_only = false;  // with a bad element or a device flag
};
struct OpRow {
  OpName op;
  OpStatus status;
  std::optional<uint64_t> digest;  // of the tensor
  // By binary exponent; its `row` says nothing here.
  std::optional<ExponentCounts> exponents;
};

struct OpRows {
  std::vector<OpRow> rows;
  // Oldest step that was looked at, where not all of the range was.
  std::optional<int64_t> from;
};

struct RunRow {
  RunKey key;
  RunDescription description;
  Time opened{};
  std::optional<Time> ended;
  std::string end_reason;
  int64_t last_step = 0;
};

// How the error of HistoryReader::Open ends for a file that is whole, but not
// for this version.
inline constexpr std::string_view kOfANewerNanwatch =
    " is of a newer nanwatch: use that one to read it";

class HistoryReader {
 public:
  // `path`: a history database or a file of `nanwatch export`. Any thread, one
  // at a time.
  static Result<std::unique_ptr<HistoryReader>> Open(const std::string& path);
  virtual ~HistoryReader() = default;

  // Events with id > `after` in order, until `visit` returns false. `run`
  // restricts them to one attempt (and to DaemonStarted and RulesLoaded).
  // Damaged ones are passed over and counted.
  virtual Status ForEachEvent(
      uint64_t after, const std::optional<RunKey>& run,
      const std::function<bool(const StampedEvent&)>& visit) = 0;
  virtual uint64_t damaged_events() const = 0;
  // What is known to be missing beside damaged events, in sentences: what was
  // judged and never stored, the log that a copy lacks, and, after
  // ForEachEvent of all runs, what came behind the last event that could be
  // read. Empty: nothing.
  virtual std::string missing() const { return ""; }

  // For restart: what to apply, in order of id: for each run that is not
  // closed, or was within the last hour of the file, its newest usable
  // checkpoint of `engine_version`, and the events after it. Starts and rules
  // of the daemon: all.
  virtual Status ForEachRestartEvent(
      std::string_view engine_version,
      const std::function<bool(const StampedEvent&)>& visit) = 0;
  // The same of one attempt, however long ago it ended.
  virtual Status ForEachEventFromCheckpoint(
      const RunKey& run, std::string_view engine_version,
      const std::function<bool(const StampedEvent&)>& visit) = 0;

  // In the order in which they opened.
  virtual Result<std::vector<RunRow>> Runs() = 0;
  // Those of which retention left no more than the newest steps, in no order.
  // An export of such a run does not know, nor does a file that holds no step
  // of it. Reads the index of all steps.
  virtual Result<std::vector<RunKey>> TrimmedRuns() = 0;
  virtual Result<std::vector<StepBucket>> Steps(const StepQuery& query) = 0;
  virtual Result<OpRows> Ops(const OpQuery& query) = 0;
  // Incidents as last sent.
  virtual Result<std::vector<std::pair<RunKey, Incident>>> Sent() = 0;
};

// The attempt asked for, else the newest of that run. Null: none such.
inline const RunRow* FindRun(const std::vector<RunRow>& rows,
                             std::string_view run_id,
                             std::optional<int32_t> attempt) {
  const RunRow* found = nullptr;
  for (const RunRow& row : rows) {
    if (row.key.run_id != run_id) continue;
    if (attempt && row.key.attempt != *attempt) continue;
    if (found == nullptr || found->key.attempt < row.key.attempt) found = &row;
  }
  return found;
}

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_READER_H_
