// LogJudge: a log judged in this process, without a daemon: the lines through a
// LogReader, its records through a RecordJudge. What `nanwatch check` is made
// of.

#ifndef NANWATCH_APP_LOG_JUDGE_H_
#define NANWATCH_APP_LOG_JUDGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/record_judge.h"
#include "diagnose/words.h"
#include "logs/log_reader.h"
#include "model/rule.h"

namespace nanwatch {

struct LogVerdict : RecordVerdict {
  std::string emitter;  // "megatron+deepspeed"; empty: not recognised
  uint64_t lines = 0;   // read
  // Updates of the first rank; where most are not in the log, those that are.
  uint64_t updates = 0;
  bool steps_counted = false;  // and not told: a record may stand for many
  bool of_epochs = false;      // a record stands for an epoch
  size_t ranks = 0;
  LogCoverage coverage;
  std::optional<LogStopped> stopped;
  std::optional<LogBroke> broke;
  std::string cut;  // why the rest was not read, no full stop; empty: it was

  bool leaves_steps_out() const { return steps_between || steps_counted; }
  // What a record stands for, and what `updates` counts, in words.
  std::string step_word() const {
    return RecordInWords(of_epochs, leaves_steps_out());
  }
  std::string update_word() const {
    return RecordInWords(of_epochs, leaves_steps_out(), "update");
  }
};
// How a log's records ended. `went_on`: records followed after the program said
// that it stops.
RecordsEnded EndOf(const std::optional<LogStopped>& stopped, bool went_on,
                   const std::optional<LogBroke>& broke);

class LogJudge {
 public:
  using OnNotice = RecordJudge::OnNotice;
  using OnEvent = RecordJudge::OnEvent;
  using OnRecord = std::function<void(const LogRecord&)>;
  struct Options {
    std::string run_id;
    std::string file;                   // as LogReader::SetFile; may be empty
    const LogFormat* format = nullptr;  // null: recognise it
    ColumnMap columns;
    RulesInForce rules;                          // empty: the defaults
    std::shared_ptr<const Benchmark> benchmark;  // null: none
    OnNotice on_notice;                          // as they come; may be empty
    OnRecord on_record;  // each record before it is judged; may be empty
    OnEvent on_event;    // as RecordJudge's; may be empty
  };
  explicit LogJudge(Options options);
  ~LogJudge();

  void ReadLine(std::string_view line) { reader_.ReadLine(line); }
  // As LogReader::ReadFact.
  void ReadFact(const LogFact& fact, uint64_t record) {
    reader_.ReadFact(fact, record);
  }
  // Nothing more follows at all. Call once, last.
  LogVerdict Finish();

  const LogReader& reader() const { return reader_; }

 private:
  void Count(const LogRecord& record);

  const OnRecord on_record_;
  RecordJudge records_;
  std::optional<int32_t> first_rank_;
  uint64_t shown_line_ = 0;  // of the newest of `shown_`
  int64_t shown_step_ = -1;  // the same
  uint64_t shown_ = 0;       // updates of the first rank that lines show
  uint64_t last_line_ = 0;   // of the log: the newest record's
  LogReader reader_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_LOG_JUDGE_H_
