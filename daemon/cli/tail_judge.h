// TailJudge: bytes of growing logs in; incidents told, and a daemon fed, as
// they happen; the verdict at the end. The logs are those of one run, a rank
// each: what several say is judged in the order of their steps, however they
// are read. One thread.

#ifndef NANWATCH_CLI_TAIL_JUDGE_H_
#define NANWATCH_CLI_TAIL_JUDGE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
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
    std::vector<std::string> files;  // what the logs are called; may be fewer
    Duration idle_flush{};
    TailVoice* voice = nullptr;  // never null; outlives this
    TailFeed* feed = nullptr;    // null: no daemon; else outlives this
  };
  explicit TailJudge(Options options);
  ~TailJudge();

  // What follows of a log, in pieces of any size. Judged before this returns,
  // of several logs when none of the others can have more to say of these steps
  // or before: each has a later step waiting, or nothing more (Nothing).
  void Feed(size_t log, std::string_view bytes, Time now);
  // All logs are looked at again, and each may have something more.
  void Look();
  // Nothing more stands in this log for now: the others do not wait for it.
  void Nothing(size_t log);
  // What follows is from another file, or something is missing: a line that was
  // begun ends here.
  void Break(size_t log);
  // Judges what waits in logs that were silent for a while: a line whose end
  // does not come, overflows whose step line does not. Call it now and then.
  void Tick(Time now);
  // The newest step that was read in a log; -1: none yet.
  int64_t newest_step(size_t log) const { return logs_[log]->newest_step; }

  // A log's records go on alone for so many steps: ranks stay well within what
  // the engine aligns (limits::kAlignedLeadSteps), at a batch each.
  static constexpr int64_t kSliceSteps = 8;
  // Nothing more follows. Call once, last.
  LogVerdict Finish();

 private:
  // Where a record stands in its log: how often the run began again by then,
  // and its step.
  using Place = std::pair<int32_t, int64_t>;
  struct Waiting {
    Place place;
    LogRecord record;
  };
  struct Log {
    std::unique_ptr<LineSplitter> lines;
    std::unique_ptr<LogReader> reader;
    std::optional<int32_t> rank;
    int64_t newest_step = -1;
    uint64_t newest_line = 0;     // of a record
    std::deque<Waiting> waiting;  // read and not judged
    bool behind = true;           // it may have more to say now
    bool told_missing = false;    // columns that the user named
    int32_t begun_again = 0;
    // The newest step of each of its optimizers.
    std::vector<std::pair<std::string_view, int64_t>> newest;
    Time fed{};            // last
    bool waits = false;    // fed since the last flush
    bool foreign = false;  // no text: not read
  };

  // A record was read.
  void Hold(Log* log, LogRecord record);
  // Judges what waits, as far as no log is `behind`.
  void Release();
  bool MayBegin() const;
  void Take(Log* log, const LogRecord& record);
  RunDescription Describe(const Log& log) const;
  // What there is to tell of the watching itself.
  void TellNews();
  // Columns that --map names and so many lines of steps do not have, once.
  void TellMissing(Log* log, uint64_t lines) const;

  const Options options_;
  const Log* speaking_ = nullptr;  // whose record is being taken
  RecordJudge judge_;
  std::vector<std::unique_ptr<Log>> logs_;
  bool recognised_ = false;  // and told
  // The first record is judged when it is known which logs show steps: their
  // number is the size of the world.
  bool begun_ = false;
  std::optional<Time> held_since_;
  Time now_{};  // of the last call
  int32_t world_size_ = 1;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_JUDGE_H_
