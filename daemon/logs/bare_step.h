// BareStep: a step line's number that has no name: "[6550] loss=2.31",
// "100 | loss: 2.31". It may be a rank or a process as well, and is taken for
// the step once it is seen to rise. Where it falls, it is none, but behind a
// line that begins an epoch, or if it had risen for long: then the run goes on
// from a checkpoint, or with the next epoch. It may also stand above the step
// line, with the learning rate, "[6860, 9.99e-05]", or begin a message there:
// "INFO:tensorflow:Step 600 per-step time 0.8s". Or it is called a batch, and
// is a size where it does not rise. Of two numbers at the line's start, "19 105
// Loss=2.31", of which the first stays, that one is the epoch.

#ifndef NANWATCH_LOGS_BARE_STEP_H_
#define NANWATCH_LOGS_BARE_STEP_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/in_words.h"

namespace nanwatch {

class BareStep {
 public:
  // Of the next step line that shows no other step.
  std::optional<StepPlace> Find(std::string_view line);
  // A line that is no step line. Returns whether it says a step.
  bool Look(std::string_view line);
  // A step line that shows its own: what stood above was of that.
  void DropAbove() { above_.reset(); }
  // The newest number, which is the line's step if the next one rises.
  std::optional<int64_t> doubtful() const {
    return last_ >= 0 && !rose_ ? std::optional(last_) : std::nullopt;
  }
  bool rose() const { return rose_; }
  // The step of the line before those of which Find() saw that they show one
  // behind their epoch.
  std::optional<int64_t> before_pairs() const { return before_pairs_; }
  // A line says that another epoch begins.
  void NoteEpoch() { epoch_ = true; }

 private:
  // Rises in a row that ranks hardly make, which print in any order; ours.
  static constexpr int kRises = 16;
  static constexpr int kBatches = 3;  // rises of no size; ours

  bool CountsBatches(const StepPlace& batch);
  std::optional<StepPlace> OfPair(const StepPlace& pair);

  int64_t last_ = -1;             // -1: none yet
  std::optional<int64_t> above_;  // of the step line that comes
  int looks_ = 16;                // lines in which a batch is looked for; ours
  std::optional<StepPlace> batch_;  // the newest
  std::optional<StepPlace> pair_;   // the newest, with its epoch
  bool pairs_ = false;              // they are an epoch and its step
  std::optional<int64_t> before_pairs_;
  int batch_rises_ = 0;       // within epochs; kBatches at most
  bool batch_falls_ = false;  // within one: it is a size
  bool rose_ = false;
  bool epoch_ = false;  // one begins
  int rises_ = 0;       // in a row; kRises: so many were seen
  bool fell_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_BARE_STEP_H_
