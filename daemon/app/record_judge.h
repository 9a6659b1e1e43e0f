// RecordJudge: step records judged in this process, without a daemon, by an
// engine of its own. The records of one run, of any number of ranks.

#ifndef NANWATCH_APP_RECORD_JUDGE_H_
#define NANWATCH_APP_RECORD_JUDGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/step_packer.h"
#include "base/time.h"
#include "engine/engine.h"
#include "model/op.h"
#include "model/records_ended.h"
#include "model/rule.h"
#include "model/run.h"
#include "model/severity.h"
#include "model/snapshot.h"

namespace nanwatch {

// The defaults for what a log shows: a rank that prints no steps is no rank
// that is missing (often one alone prints them), and nothing is lost on the
// way.
RulesInForce RulesOfLogs();

struct RecordVerdict {
  uint64_t records = 0;  // judged, of all ranks; 0: nothing to judge
  // Updates of the first rank; of its optimizers, the one with most of them.
  int64_t steps = 0;
  // Most steps between them have no record.
  bool steps_between = false;
  Severity worst = Severity::kNone;   // ever
  Severity stands = Severity::kNone;  // of all attempts together (WorstOf)
  Severity at_end = Severity::kNone;  // still firing at the end
  // Why some records were not judged (more optimizers or ranks than are held);
  // empty: all were.
  std::string refused;
  // Attempts of the run (it began again from the start or a checkpoint), in
  // their order, as they stand at the end. A trouble that came back in a later
  // one stands there (EachTroubleOnce).
  std::vector<std::shared_ptr<const RunView>> attempts;
};

class RecordJudge {
 public:
  using OnNotice = std::function<void(const Notice&)>;
  using OnEvent = std::function<void(Time now, const Event& event)>;
  // What is known of the run when the first records of `rank` are judged.
  using Describe = std::function<RunDescription(int32_t rank)>;
  struct Options {
    std::string run_id;
    RulesInForce rules;  // empty: the defaults
    // What the losses are held against; null: nothing.
    std::shared_ptr<const Benchmark> benchmark = nullptr;
    Describe describe;
    OnNotice on_notice;  // as they come; may be empty
    OnEvent on_event;    // each that the engine takes, before; may be empty
  };
  explicit RecordJudge(Options options);
  ~RecordJudge();

  // An update of `rank`, in the rank's order. Judged with those that follow,
  // some at once, or by Judge(). Times do not matter: a record is a second.
  void Take(int32_t rank, std::string_view optimizer, const StepRecord& step);
  // Returns how many ranks had an update.
  size_t ranks() const { return ranks_.size(); }
  // Names ops of `rank`; TakeOps() means them by their place among all of its.
  void NameOps(int32_t rank, OpNames names);
  // Statuses of ops of `rank`, in their order, of a step whose record follows.
  void TakeOps(int32_t rank, OpColumns columns);
  // All that was taken is judged now.
  void Judge();
  // What was taken is all that there is: a trouble that may have passed in what
  // would follow is judged as it stands. `ended`: how the newest attempt ended;
  // `rank`: whose program did, if that is known. Call once, last.
  RecordVerdict Conclude(const RecordsEnded& ended = {},
                         std::optional<int32_t> rank = std::nullopt);

 private:
  struct Rank {
    SessionId session = 0;
    Sequence sequence = 0;
    int64_t records = 0;
    struct Optimizer {
      int64_t newest = 0;  // step
      int64_t records = 0;
      int64_t forth = 0;  // steps from record to record
    };
    std::map<std::string, Optimizer, std::less<>> optimizers;
  };

  void Open(int32_t rank);
  // Returns true where more is known of the run than before.
  bool DescribeAgain();
  void Admit(ClientMessage message);
  void Apply(const Event& event);
  void EndRank(const RecordsEnded& ended, std::optional<int32_t> rank);
  void TellNotices();

  const Options options_;
  Engine engine_;
  Effects effects_;
  std::map<int32_t, Rank> ranks_;
  StepPacker packer_;
  int32_t packed_rank_ = 0;  // of the records in packer_
  Time now_;
  RunKey run_;  // its newest attempt; no name: none yet
  // As the engine knows them.
  std::string framework_;
  std::map<std::string, std::string> settings_;
  uint64_t records_ = 0;
  std::string refused_;  // the first sentence
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_RECORD_JUDGE_H_
