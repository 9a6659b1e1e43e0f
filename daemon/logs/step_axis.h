// StepAxis: puts step lines that show no step (the dicts of Hugging Face's
// Trainer) on the axis of a library's lines that do (DeepSpeed's counter),
// where a log has both.

#ifndef NANWATCH_LOGS_STEP_AXIS_H_
#define NANWATCH_LOGS_STEP_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "logs/fact.h"

namespace nanwatch {

// A line right behind the counter's is of its step; several between two of the
// counter's are spread evenly. For how many steps they stand, two of the
// counter's show: until then they wait.
class StepAxis {
 public:
  explicit StepAxis(FactSink sink);

  // Passes on `fact`, with its step, and perhaps others that came before it, in
  // their order. Where the program's own lines show steps, all pass as they
  // are, but for a first one that lacks its step and more.
  void Take(const LogFact& fact, uint64_t line);
  // Nothing more follows, or not soon: what waits is passed on with what is
  // known by now, and from now on nothing waits.
  void Flush();

  // Facts that wait at most; then it is as if nothing more followed.
  static constexpr size_t kWaitingMax = 4096;

 private:
  struct Waiting {
    uint64_t line = 0;
    LogFact fact;
  };

  bool MustWait(const LogFact& fact) const;
  // `first`: the first line that shows its step.
  void DropCut(const LogFact& first);
  void Wait(const LogFact& fact, uint64_t line);
  void Release(double stride);
  void Pass(const LogFact& fact, uint64_t line);
  void PassLine(const LogFact& fact, uint64_t line);
  void NoteCounter(int64_t step);
  double Next(const LogFact& fact) const;

  const FactSink sink_;
  bool numbered_ = false;  // the program's lines show steps themselves
  bool may_wait_ = true;
  std::vector<Waiting> waiting_;
  // Of what waits: the counter's first step, and lines before and after it.
  std::optional<int64_t> first_;
  int64_t before_first_ = 0;
  int64_t after_first_ = 0;
  // Of what was passed on.
  std::optional<int64_t> counter_;  // its newest step
  int64_t gap_ = 0;                 // from the one before; 0: unknown
  int64_t lines_ = 0;               // since the newest
  double stride_ = 0;               // steps a line; 0: unknown
  double step_ = 0;                 // of the newest line; 0: none yet
  int64_t count_ = 0;               // its place as the program's format has it
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_STEP_AXIS_H_
