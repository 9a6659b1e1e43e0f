// LossScaler: the loss scalers of the frameworks, as their sources have them.

#ifndef NANWATCH_WORD2VEC_SCALER_H_
#define NANWATCH_WORD2VEC_SCALER_H_

#include <memory>
#include <string>

namespace word2vec {

class LossScaler {
 public:
  virtual ~LossScaler() = default;
  virtual double scale() const = 0;
  // One update. True: it is applied.
  virtual bool Update(bool overflow) = 0;
};

// Ascend's TensorFlow adapter, ExponentialUpdateLossScaleManager: overflows are
// counted until the scale changes, not only consecutive ones; floor 1.
class AscendTfScaler : public LossScaler {
 public:
  static constexpr int kGrowthInterval = 1000;  // incr_every_n_steps
  static constexpr int kBadUntilDecrease = 2;   // decr_every_n_nan_or_inf
  static constexpr double kGrowth = 2;          // incr_ratio
  static constexpr double kBackoff = 0.8;       // decr_ratio

  AscendTfScaler(double init, double backoff)
      : scale_(init), backoff_(backoff) {}
  double scale() const override { return scale_; }
  bool Update(bool overflow) override;

 private:
  double scale_;
  const double backoff_;
  int good_ = 0;
  int bad_ = 0;
};

// torch.amp.GradScaler: halves at every overflow, without a floor; the scale is
// a float and ends at 0.
class PytorchScaler : public LossScaler {
 public:
  static constexpr int kGrowthInterval = 2000;
  static constexpr float kGrowth = 2;
  static constexpr float kBackoff = 0.5;

  explicit PytorchScaler(double init) : scale_(static_cast<float>(init)) {}
  double scale() const override { return static_cast<double>(scale_); }
  bool Update(bool overflow) override;

 private:
  float scale_;
  int good_ = 0;
};

// Ascend's FixedLossScaleManager. Check off: overflowing steps are applied.
class FixedScaler : public LossScaler {
 public:
  FixedScaler(double scale, bool overflow_check)
      : scale_(scale), overflow_check_(overflow_check) {}
  double scale() const override { return scale_; }
  bool Update(bool overflow) override { return !(overflow_check_ && overflow); }

 private:
  const double scale_;
  const bool overflow_check_;
};

// What is chosen and declared.
struct ScalerChoice {
  enum class Kind { kAscendTf, kPytorch, kFixed };
  Kind kind = Kind::kAscendTf;
  double init = 65536;
  double backoff = AscendTfScaler::kBackoff;  // kAscendTf only
  bool overflow_check = true;                 // kFixed only
};
std::unique_ptr<LossScaler> MakeScaler(const ScalerChoice& choice);
const char* Name(ScalerChoice::Kind kind);

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_SCALER_H_
