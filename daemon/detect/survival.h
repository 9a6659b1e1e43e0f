// Whether a run outlived what was not finite in one of its steps. An update
// that NaN was applied with spoils the next loss already.

#ifndef NANWATCH_DETECT_SURVIVAL_H_
#define NANWATCH_DETECT_SURVIVAL_H_

#include <cstdint>

namespace nanwatch {

class Survival {
 public:
  // A step with what is not finite.
  void Restart() { losses_ = 0; }

  // The loss of a step after it.
  void AddLoss(bool finite) {
    if (IsSure()) return;
    losses_ = finite ? losses_ + 1 : 0;
  }

  bool IsSure() const { return losses_ >= kSure; }

 private:
  static constexpr int8_t kSure = 3;  // losses; ours

  int8_t losses_ = 0;  // finite ones in a row; kSure at most
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SURVIVAL_H_
