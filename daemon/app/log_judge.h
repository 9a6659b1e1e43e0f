// LogJudge: a log judged in this process, without a daemon: the lines through a
// LogReader, its records through an engine of its own. What `nanwatch check`
// and `tail` are made of.

#ifndef NANWATCH_APP_LOG_JUDGE_H_
#define NANWATCH_APP_LOG_JUDGE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/step_packer.h"
#include "engine/engine.h"
#include "logs/log_reader.h"
#include "model/severity.h"
#include "model/snapshot.h"

namespace nanwatch {

struct LogVerdict {
  std::string emitter;   // "megatron+deepspeed"; empty: not recognised
  uint64_t lines = 0;    // read
  uint64_t records = 0;  // judged, of all ranks; 0: nothing to judge
  int64_t steps = 0;     // optimizer attempts, of the first rank
  Severity worst = Severity::kNone;   // ever
  Severity at_end = Severity::kNone;  // still firing when the log ends
  std::optional<LogStopped> stopped;
  // Attempts of the run (the log began again from the start or a checkpoint),
  // in their order, as they stand at the end of the log.
  std::vector<std::shared_ptr<const RunView>> attempts;
};

class LogJudge {
 public:
  using OnNotice = std::function<void(const Notice&)>;
  using OnRecord = std::function<void(const LogRecord&)>;
  struct Options {
    std::string run_id;
    const LogFormat* format = nullptr;  // null: recognise it
    ColumnMap columns;
    RuleSet rules;       // empty: the defaults
    OnNotice on_notice;  // as they come; may be empty
    OnRecord on_record;  // each record before it is judged; may be empty
  };
  explicit LogJudge(Options options);
  ~LogJudge();

  void ReadLine(std::string_view line) { reader_.ReadLine(line); }
  // Judges all that was read, also what waits for its step line: nothing more
  // follows soon.
  void Flush();
  // Nothing more follows at all. Call once, last.
  LogVerdict Finish();

  const LogReader& reader() const { return reader_; }

 private:
  struct Rank {
    SessionId session = 0;
    Sequence sequence = 0;
    int64_t records = 0;
  };

  void Take(const LogRecord& record);
  void Send();
  void Open(int32_t rank);
  void Admit(ClientMessage message);

  Options options_;
  Engine engine_;
  Effects effects_;
  LogReader reader_;
  std::map<int32_t, Rank> ranks_;
  StepPacker packer_;
  int32_t packed_rank_ = 0;  // of the records in packer_
  Time now_;
  uint64_t records_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_LOG_JUDGE_H_
