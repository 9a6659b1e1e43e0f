// KeptAxis: a log may count in two ways, samples in one line and iterations in
// the next: where they go to and fro, the way of its losses is kept.

#ifndef NANWATCH_LOGS_KEPT_AXIS_H_
#define NANWATCH_LOGS_KEPT_AXIS_H_

#include <cstdint>
#include <optional>

namespace nanwatch {

class KeptAxis {
 public:
  enum class Axis : uint8_t { kName, kBar, kWords };  // where the step stands

  // Takes in a line's step; false: it counts another way than the losses.
  bool Keep(Axis axis, int64_t step, bool has_loss) {
    if (axis != newest_axis_ && step < newest_step_) ++turns_;
    newest_axis_ = axis;
    newest_step_ = step;
    if (!loss_axis_ && has_loss) loss_axis_ = axis;
    return turns_ < kTurns || !loss_axis_ || axis == *loss_axis_;
  }

 private:
  static constexpr int kTurns = 2;  // one may be a restart

  std::optional<Axis> loss_axis_;  // of the first loss with a step
  Axis newest_axis_ = Axis::kName;
  int64_t newest_step_ = 0;
  int turns_ = 0;  // back to another axis
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_KEPT_AXIS_H_
