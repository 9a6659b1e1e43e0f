// Glide: norm and loss come down together without any noise, as those of full
// batches do that reach a minimum; mini-batches never do. A flat spot that full
// batches reach in this way is not told from a minimum.

#ifndef NANWATCH_DETECT_GLIDE_H_
#define NANWATCH_DETECT_GLIDE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nanwatch {

// Trivially copyable. Norms in log2.
class Glide {
 public:
  // The next healthy record.
  void Add(float norm, float loss) {
    const bool goes_on = GoesOnTo(norm);
    // Noise does so by chance: choices, not branches.
    records_ = goes_on ? std::min<int16_t>(records_ + 1, kSure) : 0;
    began_ = goes_on ? began_ : loss;
    lowest_ = goes_on ? std::min(lowest_, loss) : loss;
    fall_ = newest_ - norm;
    newest_ = norm;
  }
  // The first norm that is low goes no step further: it ends the glide.
  void Meet(float norm) {
    if (!GoesOnTo(norm)) records_ = 0;
  }
  // The loss stays where a glide has led it.
  bool Explains(float loss) const {
    const float low = lowest_ + kRounding * std::fabs(lowest_);
    return records_ == kSure && loss <= low && began_ > low;
  }

 private:
  static constexpr int16_t kSure = 32;       // records; ours
  static constexpr float kSmooth = 0.5f;     // log2, of the rate; ours
  static constexpr float kRounding = 1e-3f;  // of the loss; ours

  bool GoesOnTo(float norm) const {
    return std::fabs(newest_ - norm - fall_) <= kSmooth;
  }

  float newest_ = 0;         // norm
  float fall_ = -HUGE_VALF;  // from the norm before
  float began_ = 0;          // loss
  float lowest_ = 0;         // loss since
  int16_t records_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GLIDE_H_
