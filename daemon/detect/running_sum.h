// RunningSum: whether a loss is the sum of all losses so far, as gensim prints
// it and as scripts do that never set theirs back. Each record adds about as
// much to it as the first one was. A mean that began with 0 grows so, too,
// until it comes to rest.

#ifndef NANWATCH_DETECT_RUNNING_SUM_H_
#define NANWATCH_DETECT_RUNNING_SUM_H_

#include <cmath>
#include <cstdint>

namespace nanwatch {

// Trivially copyable.
class RunningSum {
 public:
  // Takes in the next loss of a run, from its first on. Returns true where it
  // has come to rest: a mean that began with 0.
  bool Add(double loss) {
    const bool none = records_ == 0 && loss == 0;  // it begins with nothing
    if (records_ < 0 || none) return false;
    const double added = loss - sum_;
    if (records_ == 0) first_ = added_ = added;
    const bool rests = Seen() && std::fabs(added) < kRests * loss;
    const double least = (Seen() ? kFallen : kAlike) * added_;
    const bool adds = added > 0 && added >= least && added <= kMost * first_;
    records_ = !adds ? -1 : Seen() ? records_ : records_ + 1;
    sum_ = loss;
    added_ = added;
    return records_ < 0 && rests;
  }
  bool Seen() const { return records_ >= kSure; }

 private:
  // A loss falls, so that the sum grows by no more than it began with. One that
  // diverges grows by more and more.
  static constexpr double kMost = 1.1;    // of the first loss; ours
  static constexpr double kAlike = 0.8;   // of what the one before added; ours
  static constexpr double kFallen = 0.5;  // the same, once it is seen; ours
  static constexpr double kRests = 0.3;   // of the loss, it adds; ours
  static constexpr int32_t kSure = 4;     // records; ours

  double sum_ = 0;
  double first_ = 0;
  double added_ = 0;     // by the newest
  int32_t records_ = 0;  // that fit, kSure at most; -1: one did not
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RUNNING_SUM_H_
