// TailJudge: bytes of growing logs in; incidents told, and a daemon fed, as
// they happen; the verdict at the end. The logs are those of one run, a rank
// each. One thread.

#ifndef NANWATCH_CLI_TAIL_JUDGE_H_
#define NANWATCH_CLI_TAIL_JUDGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/record_judge.h"
#include "base/time.h"
#include "cli/tail_feed.h"
#include "cli/tail_voice.h"
#include "logs/line_splitter.h"
#include "logs/log_reader.h"

namespace nanwatch {

class TailJudge {
 public:
  struct Options {
    const LogFormat* format = nullptr;  // null: recognise it
    ColumnMap columns;
    // One a log. nullopt: the lines say it, else it is 0.
    std::vector<std::optional<int32_t>> ranks;
    Duration idle_flush{};
    TailVoice* voice = nullptr;  // never null; outlives this
    TailFeed* feed = nullptr;    // null: no daemon; else outlives this
  };
  explicit TailJudge(Options options);
  ~TailJudge();

  // What follows of a log, in pieces of any size; judged before this returns.
  void Feed(size_t log, std::string_view bytes, Time now);
  // What follows is from another file, or something is missing: a line that was
  // begun ends here.
  void Break(size_t log);
  // Judges what waits in logs that were silent for a while: a line whose end
  // does not come, overflows whose step line does not. Call it now and then.
  void Tick(Time now);
  // The newest step that a log told; -1: none yet.
  int64_t newest_step(size_t log) const { return logs_[log]->newest_step; }
  // Nothing more follows. Call once, last.
  LogVerdict Finish();

 private:
  struct Log {
    std::unique_ptr<LineSplitter> lines;
    std::unique_ptr<LogReader> reader;
    std::optional<int32_t> rank;
    int64_t newest_step = -1;
    Time fed{};            // last
    bool waits = false;    // fed since the last flush
    bool foreign = false;  // no text: not read
  };

  void Take(Log* log, LogRecord record);
  RunDescription Describe(const Log& log) const;
  // What there is to tell of the watching itself.
  void TellNews();

  const Options options_;
  const Log* speaking_ = nullptr;  // whose record is being taken
  RecordJudge judge_;
  std::vector<std::unique_ptr<Log>> logs_;
  bool recognised_ = false;  // and told
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_JUDGE_H_
