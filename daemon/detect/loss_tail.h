// LossTail: do the last losses of a log stand far above those before them? A
// short log, or a trouble that is cut off by its end, leaves few records: too
// few for a baseline, or for one that has forgotten how the loss fell.

#ifndef NANWATCH_DETECT_LOSS_TAIL_H_
#define NANWATCH_DETECT_LOSS_TAIL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nanwatch {

// Trivially copyable: a member of a rule.
class LossTail {
 public:
  // The last losses, which stand above those before.
  struct Rise {
    int32_t records = 0;
    int32_t before = 0;  // records that they are compared with
    int64_t step = 0;    // of the first
    float from = 0;      // median of those before
    float peak = 0;
    float last = 0;       // mean of the last third
    bool steady = false;  // those before are within 5 % of one another
    bool all = false;     // there are no others
    bool comes_down = false;
  };

  // The next. REQUIRES: it is finite.
  void Add(float loss, int64_t step);

  // The newest last: up to 40, all there are of the first 40 and 33 at least
  // after that.
  std::span<const float> losses() const {
    return {losses_.data(), static_cast<size_t>(filled_)};
  }
  int64_t StepOf(int index) const { return first_step_ + steps_[index]; }
  bool positive() const;  // all of them

  // Returns the rise at the end, where the last losses are clearly apart from
  // those before: all of them are above all of up to 24, by as much as those
  // differ and half more. Absent: they are not; or some before were as high,
  // and came back; or some are not positive, which are of no level.
  std::optional<Rise> Jump() const;
  // Returns the rise where the loss goes up and up: from the lowest two in a
  // row on all are above them, and the last two the most. For losses that are
  // means of many: of single batches the lowest say little.
  std::optional<Rise> Climb() const;

 private:
  static constexpr int kKept = 40;  // losses; ours

  bool WasAsHigh(int split) const;
  Rise Describe(int split, int before) const;

  std::array<float, kKept> losses_{};   // the newest at filled_ - 1
  std::array<int32_t, kKept> steps_{};  // since first_step_
  int64_t first_step_ = 0;
  int32_t filled_ = 0;
  bool dropped_ = false;  // the oldest
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_TAIL_H_
