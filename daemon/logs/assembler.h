// Assembler: the facts of one log to step records, one an update, as
// the training itself would have sent them. A log shows less than that: step
// lines come every ten or hundred steps, overflows stand between them without a
// step, several times, of one scaler or two. What it does not show stays "not
// collected".
//
// An interval, from one step line to the next, becomes as many records as it
// had updates: its overflows and raises, spread evenly in their order, and at
// its end the line's own numbers. Updates of which only "nothing happened" is
// known are records with flags and no numbers.
//
// Where nothing tells overflows, only what was told becomes records. A step
// that goes back begins a new attempt of the run. Options of a scaler that a
// log prints are kept with the run and declare nothing: another library's
// scaler may be in force.

#ifndef NANWATCH_LOGS_ASSEMBLER_H_
#define NANWATCH_LOGS_ASSEMBLER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "logs/copy_filter.h"
#include "logs/fact.h"
#include "logs/format.h"
#include "logs/loss_series.h"
#include "logs/mean_norms.h"
#include "logs/optimizer_lanes.h"
#include "logs/step_copies.h"
#include "model/step.h"

namespace nanwatch {

struct LogRecord {
  uint64_t line = 0;  // of the log, from 1
  int32_t rank = 0;
  // Empty: the only one, or the one that was when it was first told; lives as
  // long as the assembler.
  std::string_view optimizer;
  bool shown = true;  // by its line; else that one tells that it was
  // `optimizer` and `time` inside are not set; no pointers are.
  StepRecord step;
};
using LogRecordSink = std::function<void(const LogRecord&)>;

// How a log is to be read, from the formats that were recognised in it.
struct LogHabits {
  bool tells_overflows = false;
  bool skips_take_steps = true;
  bool surely_take_steps = false;  // of a known program, not assumed
  bool has_program = false;        // a program's own step lines are read
};

class Assembler {
 public:
  explicit Assembler(LogRecordSink sink);

  // What is known by now of the formats in the log.
  void Learn(const LogHabits& habits) { habits_ = habits; }
  void Take(const LogFact& fact, uint64_t line);
  // Of facts as they are read: those that Take() is given may have waited.
  void NoteWords(const LogFact& fact) {
    if (fact.words != 0) words_.Note(fact.words, fact.before_loss);
  }
  // Nothing more follows, or not soon: overflows that wait for their step line
  // are told now.
  void Flush();
  // Most step lines showed no step: the format or the assembler counted them.
  bool counts_steps() const { return counted_lines_ > numbered_lines_; }
  // A rank prints losses in lines of their own, all of one aim.
  bool has_loss_series() const { return loss_series_; }
  bool has_step_lines() const { return counted_lines_ + numbered_lines_ > 0; }

  // Records made of an interval at most: of a longer one the rest is left out.
  static constexpr int64_t kIntervalMax = 1000;
  // Good updates that a raise of the scale stands for, where no step shows how
  // many there were: DeepSpeed-Chat's growth window, the shortest that is
  // usual.
  static constexpr int64_t kGrowthMin = 100;
  // Overflows of it that only a counter tells, at most: the number may be torn.
  static constexpr int64_t kUnlistedMax = 10000;

 private:
  struct Happening {
    uint64_t line = 0;
    size_t lane = 0;
    LogFact fact;
  };
  // Overflows and raises that a log tells without steps, see QuietBefore().
  struct Quiet {
    double from = 0;       // the scale that stood before
    int raises = 0;        // of it by two, each behind so many good updates
    bool told = false;     // the happening itself is the last of the raises
    bool guessed = false;  // the scale before is what twice the one after is
  };
  struct Numbered {
    uint64_t line = 0;
    LogFact fact;
  };
  struct Rank {
    int32_t rank = 0;
    int64_t last_step = -1;  // of a step line; -1: none yet
    bool searching = true;   // no update without an overflow was told yet
    OptimizerLanes lanes;
    std::vector<Happening> waiting;  // since the newest step line
    // A library's step lines (DeepSpeed's counter, one an optimizer) that wait
    // for the program's of the same step: together they are one.
    std::vector<Numbered> beside;
    bool numbers_steps = false;    // the program's own step lines do
    bool numbers_scalers = false;  // lines of happenings do
    // Adversaries' losses that are told, since one was not finite.
    int32_t adversaries = 0;
    CopyFilter copies;
    MeanNorms norms;
    LossSeries series;
    std::array<StepCopies, LossSeries::kMax> step_copies;  // by series
  };
  // What an interval amounts to.
  struct Interval {
    int64_t updates = 1;
    int64_t overflows = 0;  // told by lines
    int64_t unlisted = 0;   // told by a counter alone
    int64_t nan = 0;        // the newest of these whose loss was not finite
    bool known = false;     // no overflow beside these happened
  };

  Rank& At(std::optional<int32_t> rank);
  bool Holds(const LogFact& fact) const;
  void Release(int64_t gap);
  void DoubtFirst(const LogFact& next);
  void Pass(const LogFact& fact, uint64_t line);
  void TakeHappening(const LogFact& fact, uint64_t line);
  void TakeProgress(const LogFact& fact, uint64_t line);
  void TakeStepLine(const LogFact& fact, uint64_t line);
  void TakeOwn(Rank* rank, const LogFact& fact, uint64_t line);
  void PlaceBeside(Rank* rank, size_t series, LogFact* fact) const;
  static void KeepOfAdversary(Rank* rank, LogFact* fact);
  void JudgeDouble(Rank* rank, const LogFact& counter);
  void TakeBeside(Rank* rank, const LogFact& fact, uint64_t line);
  void TellBeside(Rank* rank);
  void TellProgress(Rank* rank, const LogFact& fact, uint64_t line);
  void TellLane(Rank* rank, size_t lane, const LogFact& fact, uint64_t line);
  void TellKnown(Rank* rank, size_t lane, const LogFact& fact, uint64_t line);
  void TellOtherLanes(Rank* rank, size_t lane, const LogFact& fact,
                      uint64_t line);
  static std::vector<Happening> TakeLane(Rank* rank, size_t lane);
  int64_t SkippedSince(const OptimizerLane& lane, const LogFact& fact) const;
  int64_t FirstUpdates(const OptimizerLane& lane, const LogFact& fact) const;
  static bool Fell(OptimizerLane* lane, const LogFact& fact);
  Interval Weigh(Rank* rank, size_t lane, const LogFact& fact);
  static bool ShowsOverflow(const OptimizerLane& lane, const Interval& interval,
                            const LogFact& fact);
  static bool EndsInOverflow(const std::vector<Happening>& waiting,
                             const OptimizerLane& lane,
                             const Interval& interval, const LogFact& fact);
  void TellInterval(Rank* rank, size_t lane, const LogFact& fact, uint64_t line,
                    Interval interval);
  void TellUpdate(Rank* rank, size_t lane, const LogFact& fact, uint64_t line,
                  bool known);
  static void NoteScale(const LogFact& fact, double first_scale,
                        OptimizerLane* lane);
  void TellWaiting(Rank* rank);
  // Step lines do not show how many updates lie between them.
  bool updates_unknown() const {
    return numbered_lines_ - epoch_lines_ <= counted_lines_ + epoch_lines_;
  }
  Quiet QuietBefore(OptimizerLane* lane, const LogFact& fact) const;
  std::vector<Quiet> QuietBetween(OptimizerLane* lane,
                                  const std::vector<Happening>& waiting,
                                  bool of_epoch) const;
  void TellQuiet(Rank* rank, const Happening& before, const Quiet& quiet);
  static double SearchedFrom(const OptimizerLane& lane, const LogFact& fact,
                             const Interval& interval);
  static void MarkGood(double scale, StepRecord* record);
  static void MarkEvent(const Happening* happening, StepRecord* record);
  static std::string_view LaneName(const Rank& rank, size_t lane);
  // `record->step` is set.
  void Tell(Rank* rank, size_t lane, uint64_t line, LogRecord* record);

  LogHabits habits_;
  const LogRecordSink sink_;
  std::map<int32_t, Rank> ranks_;
  LossWords words_;
  bool loss_series_ = false;
  // The log's first step line, if it counts what was skipped since a line
  // before, and what came since: how far back it counts, and whether its
  // counter counts at all, the next one shows.
  std::vector<Numbered> held_;
  int64_t first_gap_ = 0;  // steps from the first line to the next; 0: unknown
  uint64_t numbered_lines_ = 0;  // step lines that showed their step
  uint64_t counted_lines_ = 0;
  uint64_t epoch_lines_ = 0;  // numbered ones whose step is an epoch
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ASSEMBLER_H_
