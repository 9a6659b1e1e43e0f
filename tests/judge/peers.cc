#include "tests/judge/peers.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace nanwatch {
namespace {

// Weights & Biases' alert in its documents and examples: more than 3 standard
// deviations away from the mean of the last 30.
class ZScore {
 public:
  bool operator()(double value) {
    if (!std::isfinite(value)) return false;
    bool alarm = false;
    if (window_.size() == 30) {
      double sum = 0;
      for (const double x : window_) sum += x;
      const double mean = sum / 30;
      double squares = 0;
      for (const double x : window_) squares += (x - mean) * (x - mean);
      const double deviation = std::sqrt(squares / 30);
      alarm = deviation > 0 && std::fabs(value - mean) > 3 * deviation;
      window_.pop_front();
    }
    window_.push_back(value);
    return alarm;
  }

 private:
  std::deque<double> window_;
};

// msprobe's AnomalyTurbulence, threshold 0.5, and its AnomalyNan.
class Turbulence {
 public:
  bool operator()(double value) {
    if (std::isnan(value)) return true;
    const double size = std::fabs(value);
    if (!begun_) {
      begun_ = true;
      average_ = size;
    }
    const bool alarm = size > 1.5 * average_;
    average_ = 0.99 * average_ + 0.01 * size;
    return alarm;
  }

 private:
  bool begun_ = false;
  double average_ = 0;
};

// torch_npu's ASD on one number, squared: upper thresholds 1e6 and 1e2. Its
// three strikes and checksums, which come after, are left out.
class Asd {
 public:
  bool operator()(double value) {
    if (!std::isfinite(value)) return true;
    const double x = value * value;
    if (x == 0) return false;
    const double usual = count_ == 0 ? 0 : average_ / (1 - decayed_);
    const bool judged = count_ >= 10;
    const bool alarm =
        judged && x > 1e6 * usual && std::fabs(x - before_) > 1e6 * usual;
    before_ = x;
    if (judged && x > 1e2 * usual) return alarm;  // suspect: not learnt
    average_ = 0.99 * average_ + 0.01 * x;
    decayed_ *= 0.99;
    ++count_;
    return alarm;
  }

 private:
  double average_ = 0;
  double decayed_ = 1;
  double before_ = 0;
  int count_ = 0;
};

// Megatron-LM: unexpectedly large is 10 times the largest of the first 100; and
// it stops at a loss that is not finite.
class TenTimesTheFirst {
 public:
  bool operator()(double value) {
    if (!std::isfinite(value)) return true;
    if (count_ < 100) {
      ++count_;
      largest_ = std::max(largest_, value);
      return false;
    }
    return value >= 10 * largest_;
  }

 private:
  double largest_ = 0;
  int count_ = 0;
};

// llm-foundry's KillLossSpike: twice the mean of the last 100, more than 4
// times in a row; or, once two windows have passed, at least half of the window
// above the largest of the first one or above 10.
class KillLossSpike {
 public:
  bool operator()(double value) {
    if (!std::isfinite(value)) return false;
    if (++seen_ <= 100) first_ = std::max(first_, value);
    bool alarm = false;
    if (window_.size() == 100) {
      const double mean = sum_ / 100;
      above_ = value >= 2 * mean ? above_ + 1 : 0;
      alarm = above_ > 4;
      if (seen_ > 200) {
        const double cap = std::min(10.0, first_);
        const auto high = std::count_if(window_.begin(), window_.end(),
                                        [cap](double x) { return x > cap; });
        alarm = alarm || high >= 50;
      }
      sum_ -= window_.front();
      window_.pop_front();
    }
    window_.push_back(value);
    sum_ += value;
    return alarm;
  }

 private:
  std::deque<double> window_;
  double sum_ = 0;
  double first_ = 0;  // largest of the first window
  int above_ = 0;
  int seen_ = 0;
};

// metaseq's ratio to an exponentially weighted mean of span 9, above 2; what
// alarms is not learnt.
class EwmRatio {
 public:
  bool operator()(double value) {
    if (!std::isfinite(value)) return false;
    if (!begun_) {
      begun_ = true;
      mean_ = value;
      return false;
    }
    if (mean_ > 0 && value > 2 * mean_) return true;
    mean_ += 0.2 * (value - mean_);
    return false;
  }

 private:
  bool begun_ = false;
  double mean_ = 0;
};

template <typename Rule>
PeerRule Make() {
  return Rule();
}

}  // namespace

const std::vector<Peer>& Peers() {
  static const auto* const peers = new std::vector<Peer>{
      {"W&B z-score, loss", true, "|z| > 3 of the last 30", Make<ZScore>},
      {"W&B z-score, norm", false, "|z| > 3 of the last 30", Make<ZScore>},
      {"msprobe AnomalyTurbulence, loss", true, "> 1.5 x EMA(0.99), NaN",
       Make<Turbulence>},
      {"msprobe AnomalyTurbulence, norm", false, "> 1.5 x EMA(0.99), NaN",
       Make<Turbulence>},
      {"torch_npu ASD, norm", false, "x^2 > 1e6 x average, not finite",
       Make<Asd>},
      {"Megatron-LM, loss", true, ">= 10 x the first 100, not finite",
       Make<TenTimesTheFirst>},
      {"Megatron-LM, norm", false, ">= 10 x the first 100, not finite",
       Make<TenTimesTheFirst>},
      {"llm-foundry, loss", true, ">= 2 x the mean of 100, 5 times",
       Make<KillLossSpike>},
      {"metaseq, loss", true, "> 2 x a frozen EWMA of span 9", Make<EwmRatio>}};
  return *peers;
}

}  // namespace nanwatch
