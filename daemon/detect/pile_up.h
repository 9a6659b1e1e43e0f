// PileUp: a gradient norm that grows from the first record on by about the
// first norm a record: as of gradients that are added up and never zeroed.
//
// Norms that grow in health, as in a warm-up, start slower than that, or
// wander: 16 in a row between bounds of so many times the first are no chance.

#ifndef NANWATCH_DETECT_PILE_UP_H_
#define NANWATCH_DETECT_PILE_UP_H_

#include <cstdint>

namespace nanwatch {

// Trivially copyable.
class PileUp {
 public:
  // The next norm of a fresh run, as times the first. `warms`: the learning
  // rate rose with it. REQUIRES: !settled().
  void Add(float times, bool warms, int64_t step) {
    if (norms_ == 0) step_ = step;
    warms_ |= warms && norms_ > 0;
    ++norms_;
    const float sum = norms_;
    const float least = warms_ ? kLeastWarm : kLeast;
    if (times < least * sum || times > kMost * sum) norms_ = kNever;
  }
  // No norm changes it any more.
  bool settled() const { return seen() || norms_ == kNever; }
  // The first 16 norms did so.
  bool seen() const { return norms_ == kShown; }
  int64_t step() const { return step_; }  // of the first

 private:
  static constexpr int8_t kShown = 16;  // norms; ours
  static constexpr int8_t kNever = -1;
  // Of the sum of as many norms as the first. Gradients of batches agree in
  // part; where a rate rises, norms grow for its sake.
  static constexpr float kLeast = 0.45f;     // ours
  static constexpr float kLeastWarm = 0.7f;  // ours
  static constexpr float kMost = 1.3f;       // ours

  int64_t step_ = 0;
  int8_t norms_ = 0;
  bool warms_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_PILE_UP_H_
