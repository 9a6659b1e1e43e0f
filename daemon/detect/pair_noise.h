// PairNoise: how the losses of two runs lie about each other while all is well,
// and whether both runs have the same batches.

#ifndef NANWATCH_DETECT_PAIR_NOISE_H_
#define NANWATCH_DETECT_PAIR_NOISE_H_

#include <cstdint>

#include "detect/bench_context.h"

namespace nanwatch {

// Trivially copyable.
class PairNoise {
 public:
  // Takes in a pair. `healthy`: nothing speaks against it, so that its distance
  // counts for the noise.
  void Add(const BenchContext& c, bool healthy);
  // Keeps what is known of the batches as long as something is found.
  void Hold(bool held) { held_ = held; }

  int32_t pairs() const { return pairs_; }  // saturates
  // Enough pairs were seen to know the noise.
  bool known() const { return pairs_ >= kKnown; }
  // What one batch does to the loss of one run it does to the other's: their
  // losses move together.
  bool same_batches() const { return same_; }
  // Returns how far this run's loss lies above the benchmark's: of the same
  // batch, or of other batches above their mean.
  double Distance(const BenchContext& c) const {
    return c.y - (same_ ? c.bench_y : c.bench_mean);
  }
  // Returns its deviation; what it does from one pair to the next counts at
  // once.
  double deviation() const;
  // Returns how far apart the losses of the newest healthy pairs lay, in the
  // root mean square.
  double usual() const;

 private:
  static constexpr int32_t kKnown = 32;  // pairs; ours
  void AddCurves(const BenchContext& c);

  // Of the two pairs before.
  float y_[2] = {};
  float bench_y_[2] = {};
  // Means of squares: of the bends of each loss, and of their difference.
  float bend_ = 0;
  float bench_bend_ = 0;
  float apart_ = 0;
  float mean_ = 0;  // of healthy distances
  float variance_ = 0;
  float newest_ = 0;  // distance
  float move_ = 0;    // mean square of what it did to the next pair
  float size_ = 0;    // mean square of the newest healthy differences
  int32_t pairs_ = 0;
  int32_t healthy_ = 0;  // pairs; saturates
  bool same_ = false;
  bool held_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_PAIR_NOISE_H_
