// ObjectiveKnob: a number of a log that says what the loss is made of: the
// weight of a term, a length, a temperature. Where it moves, the loss is
// another one.

#ifndef NANWATCH_LOGS_OBJECTIVE_KNOB_H_
#define NANWATCH_LOGS_OBJECTIVE_KNOB_H_

#include <cstdint>

namespace nanwatch {

class ObjectiveKnob {
 public:
  // Takes in the number of the next line; true: it moved there, as somebody
  // planned it. What goes up and down from line to line is measured (lengths of
  // batches, temperatures of devices).
  bool Moves(double value) {
    const double before = value_;
    value_ = value;
    if (lines_++ == 0 || value == before) return false;
    const bool up = value > before;
    turns_ += moves_++ > 0 && up != up_;
    up_ = up;
    return kPlanned * turns_ <= moves_;
  }

 private:
  static constexpr int32_t kPlanned = 4;  // moves a turn, at least; ours

  double value_ = 0;
  int32_t lines_ = 0;
  int32_t moves_ = 0;
  int32_t turns_ = 0;  // of those moves, the other way than the one before
  bool up_ = false;    // the newest move
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_OBJECTIVE_KNOB_H_
