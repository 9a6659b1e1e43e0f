// Training: one optimizer of a make-believe training, update by update: loss
// and gradient norm with the noise of public logs, learning rate, and a loss
// scaler that answers gradients that are too large. Its knobs are what a
// trouble turns.

#ifndef NANWATCH_TESTS_GENERATE_TRAINING_H_
#define NANWATCH_TESTS_GENERATE_TRAINING_H_

#include <cstdint>

#include "tests/generate/loss_scaler.h"
#include "tests/generate/random.h"
#include "tests/generate/record.h"
#include "tests/generate/texture.h"

namespace nanwatch::generate {

struct Plan {
  int64_t steps = 5000;
  // Loss: from `first` to `last`, half of the way after `half` steps.
  double first_loss = 10.8;
  double last_loss = 2.5;
  double half = 300;
  Noise loss_noise;
  bool around_zero = false;  // a policy's: no decay, of either sign
  double first_norm = 10;
  double last_norm = 1;
  Noise norm_noise;
  bool has_norm = true;
  int64_t warmup = 200;  // steps
  double rate = 1e-4;
  // The loss rises for some 10 steps at the first updates.
  bool hot_start = false;
  Scaling scaling = Scaling::kDynamic;
  LossScaler::Rule scaler;
  double element_noise = 0.25;  // of the logarithm of the largest element
  double edge = 32768;  // the scale at which usual gradients just fit fp16
  // Steps at which something changes for good: by how much, of the logarithm.
  struct Change {
    int64_t step;
    double loss = 0;
    double norm = 0;
    double noise = 0;  // the logarithm of the widths
    double rate = 1;   // factor
  };
  std::vector<Change> changes;  // rising
};

class Training {
 public:
  Training(const Plan& plan, uint64_t seed);

  // The next update of the next step.
  Update Next();
  // As after a restart: goes on at `step`, with a fresh scaler.
  void Resume(int64_t step);
  int64_t step() const { return step_; }
  LossScaler& scaler() { return scaler_; }

  // Knobs; healthy as they are.
  double loss_more = 0;      // of the logarithm
  double norm_more = 0;      // of the logarithm; the elements grow as much
  double elements_more = 0;  // of the logarithm of the largest elements alone
  bool overflow_always = false;
  bool loss_nan = false;

 private:
  void Take(const Plan::Change& change);
  double Loss();
  double Norm();

  Plan plan_;
  Random random_;
  LossScaler scaler_;
  int64_t step_ = 0;
  size_t change_ = 0;
  double loss_shift_ = 0;
  double norm_shift_ = 0;
  double wander_ = 0;  // slow, of the logarithm of the loss
  double rate_ = 1;
};

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_TRAINING_H_
