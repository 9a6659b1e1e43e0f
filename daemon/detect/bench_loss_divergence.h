// Rule 44, bench_loss_divergence: the loss leaves that of the run's benchmark
// by more than the noise of both, for long enough.

#ifndef NANWATCH_DETECT_BENCH_LOSS_DIVERGENCE_H_
#define NANWATCH_DETECT_BENCH_LOSS_DIVERGENCE_H_

#include <cstdint>

#include "detect/bench_context.h"
#include "detect/context.h"
#include "detect/episode.h"
#include "detect/pair_noise.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class BenchLossDivergence {
 public:
  static const RuleSpec kSpec;
  enum Threshold {
    kNats,
    kHold,
    kSame,
    kOffset,
    kOther,
    kCritical,
    kCriticalHold,
    kClear
  };

  Severity OnBench(const BenchContext& c, Thresholds t);
  void Describe(Finding* finding) const;

  int32_t pairs() const { return noise_.pairs(); }  // saturates
  const PairNoise& noise() const { return noise_; }
  // Means of about ten newest pairs.
  double loss() const { return loss_; }
  double bench_loss() const { return bench_loss_; }

 private:
  // Evidence that pairs lie where healthy ones do not.
  struct Side {
    float nats = 0;
    int32_t pairs = 0;  // since it began
    int64_t since = 0;  // step
    // `deviations`: how far a pair lies above healthy ones; `shift`: how far
    // others would.
    void Add(double deviations, double shift, int64_t step);
    bool Speaks(Thresholds t) const;
  };
  // Returns from how far above on a loss is a finding, and the deviation of
  // distances.
  double LeastAbove(const BenchContext& c, Thresholds t) const;
  double NoiseOf(const BenchContext& c) const;
  void Weigh(const BenchContext& c, double distance, Thresholds t);
  Severity Trigger(Thresholds t) const;
  bool clean(Thresholds t) const;
  // Returns the step at which what has most evidence began.
  int64_t since() const;

  Episode episode_;
  PairNoise noise_;
  Side above_;
  Side below_;
  Side apart_;  // of the same batches, on either side
  // Means of about ten newest pairs: of the losses, and of how far above the
  // benchmark's they lie.
  double loss_ = 0;
  double bench_loss_ = 0;
  double least_ = 0;  // distance from which on the newest pair is a finding
  float distance_ = 0;
  float size_ = 0;        // mean of how far apart they are
  float lost_ = 0;        // share of what was learned, of the first ten pairs
  int32_t far_ = 0;       // pairs in a row of a mean beyond kCritical
  bool earlier_ = false;  // the benchmark is the run's own attempt before
  // What was found began with the first pairs, as high as the run itself did.
  bool not_loaded_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_BENCH_LOSS_DIVERGENCE_H_
