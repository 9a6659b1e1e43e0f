// Glide: norm and loss come down together without any noise, as those of full
// batches do that reach a minimum; mini-batches never do. A flat spot that full
// batches reach in this way is not told from a minimum.

#ifndef NANWATCH_DETECT_GLIDE_H_
#define NANWATCH_DETECT_GLIDE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace nanwatch {

// Trivially copyable. Norms in log2.
class Glide {
 public:
  // The next healthy record. REQUIRES: its loss, if there is one, is finite.
  void Add(float norm, std::optional<double> loss) {
    const float now =
        loss ? Narrow(*loss) : std::numeric_limits<float>::infinity();
    const bool goes_on =
        loss && std::isfinite(lowest_) && GoesOnTo(norm) && IsLow(*loss);
    // Noise does so by chance: choices, not branches.
    records_ = goes_on ? std::min<int16_t>(records_ + 1, kSure) : 0;
    began_ = goes_on ? began_ : now;
    lowest_ = goes_on ? std::min(lowest_, now) : now;
    fall_ = newest_ - norm;
    newest_ = norm;
  }
  // The first norm that is low goes no step further: it ends the glide.
  void Meet(float norm) {
    if (!GoesOnTo(norm)) records_ = 0;
  }
  // The loss stays where a glide has led it.
  bool Explains(double loss) const {
    return records_ == kSure && IsLow(loss) &&
           began_ > lowest_ + kRounding * std::fabs(lowest_);
  }

 private:
  static constexpr int16_t kSure = 32;       // records; ours
  static constexpr float kSteepest = 1;      // log2, a record; ours
  static constexpr float kSmooth = 0.5f;     // log2, of the rate; ours
  static constexpr float kRounding = 1e-3f;  // of the loss; ours
  static constexpr double kRange = 0x1p120;  // ours: fits into a float

  static float Narrow(double loss) {
    return static_cast<float>(std::clamp(loss, -kRange, kRange));
  }
  bool GoesOnTo(float norm) const {
    const float fall = newest_ - norm;
    return std::fabs(fall) <= kSteepest && std::fabs(fall - fall_) <= kSmooth;
  }
  bool IsLow(double loss) const {
    return loss <= lowest_ + kRounding * std::fabs(lowest_);
  }

  float newest_ = 0;  // norm
  float fall_ = 0;    // from the norm before
  float began_ = 0;   // loss
  float lowest_ = std::numeric_limits<float>::infinity();  // loss since
  int16_t records_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GLIDE_H_
