// LossScaler: a dynamic loss scaler as frameworks have it, written for the
// generators alone.

#ifndef NANWATCH_TESTS_GENERATE_LOSS_SCALER_H_
#define NANWATCH_TESTS_GENERATE_LOSS_SCALER_H_

#include <algorithm>
#include <cstdint>

namespace nanwatch::generate {

class LossScaler {
 public:
  struct Rule {
    double init = 65536;
    int64_t interval = 2000;  // good updates until it doubles
    int hysteresis = 1;       // overflows until it halves, refilled by a growth
    double floor = 0;
  };
  LossScaler() = default;
  explicit LossScaler(const Rule& rule)
      : rule_(rule), scale_(rule.init), patience_(rule.hysteresis) {}

  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  void Update(bool overflow) {
    if (!overflow) {
      if (++good_ < rule_.interval) return;
      good_ = 0;
      patience_ = rule_.hysteresis;
      scale_ *= 2;
      return;
    }
    good_ = 0;
    if (--patience_ > 0) return;
    patience_ = 0;
    scale_ = std::max(scale_ / 2, rule_.floor);
  }

 private:
  Rule rule_;
  double scale_ = 65536;
  int64_t good_ = 0;
  int patience_ = 1;
};

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_LOSS_SCALER_H_
