#include "detect/overflow_not_scale_dependent.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "detect/bad_elements.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"halvings", 6, 1, 100, "halvings", "pytorch#96755"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec OverflowNotScaleDependent::kSpec = {
    RuleId::kOverflowNotScaleDependent,
    "overflow_not_scale_dependent",
    Family::kScale,
    "This op stays bad however low the loss scale goes, so lowering it cannot "
    "help.",
    "Bad at scales that are halvings powers of two apart without a good "
    "update between, after calibration; or NaN in a forward output, which is "
    "a warning where one or two updates in a row are left out for it.",
    "clear_after updates without a bad status.",
    kThresholds,
    "A NaN whose update the scaler or the program itself skips is a warning "
    "for up to two updates in a row. A skipped update is no cause of "
    "trouble that comes later."};

void OverflowNotScaleDependent::CountScale(double scale) {
  constexpr int kLowest = -128;  // log2; the first bit of exponents_; ours
  const int exponent = std::ilogb(scale);
  if (exponent >= kLowest) {
    const int bit = std::min(exponent - kLowest, 255);
    exponents_[bit / 64] |= uint64_t{1} << (bit % 64);
  } else if (scale_low_ == 0 || exponent < std::ilogb(scale_low_)) {
    ++below_;  // PyTorch halves a float32 down to 2^-149
  }
  scale_high_ = std::max(scale_high_, scale);
  scale_low_ = scale_low_ == 0 ? scale : std::min(scale_low_, scale);
}

int OverflowNotScaleDependent::Halvings() const {
  int different = static_cast<int>(below_);
  for (const uint64_t word : exponents_) different += std::popcount(word);
  return std::max(0, different - 1);
}

Severity OverflowNotScaleDependent::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const double clear = t[kClear];
  const BadElements elements = CountBad(c);
  if (!elements.any() && !s.device_flag.value_or(false)) {
    return episode_.On(Severity::kNone, false, c.update, s.step, clear);
  }
  Severity trigger = Severity::kNone;
  if (s.slot == Slot::kOutput && elements.nan > 0) {
    nan_ = elements.nan;
    trigger = ScalerAnswers(c) || ProgramAnswers(c) ? Severity::kWarning
                                                    : Severity::kCritical;
  }
  // A good update that is not this one: a lower scale did help.
  const int64_t good = c.scaler.good_steps();
  if (good - good_steps_ > (c.scaler.overflowed() ? 0 : 1)) {
    exponents_ = {};
    below_ = 0;
    scale_high_ = scale_low_ = 0;
  }
  good_steps_ = good;
  if (const std::optional<double> scale = c.scaler.scale()) {
    CountScale(*scale);
    if (Halvings() >= t[kHalvings] && !Calibrating(c)) {
      trigger = Severity::kCritical;
    }
  }
  return episode_.On(trigger, true, c.update, s.step, clear);
}

void OverflowNotScaleDependent::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const int halvings = Halvings();
  if (nan_ > 0) {
    finding->sentence =
        Sentence(nan_, " NaN in a forward output",
                 scale_high_ > 0 ? ": no loss scale can help" : "");
    if (episode_.severity() == Severity::kWarning) {
      finding->sentence += "; that update was left out";
    }
  } else if (halvings < 1) {  // an update was good since
    finding->sentence =
        "Bad at loss scales far apart, with no good update between: lowering "
        "it further could not help";
  } else {
    finding->sentence = Sentence("Bad at every loss scale from ", scale_high_,
                                 " down to ", scale_low_, " (", halvings,
                                 " halvings): lowering it further cannot help");
  }
  finding->sentence += ".";
  finding->numbers = {{"halvings", static_cast<double>(halvings), ""},
                      {"scale_high", scale_high_, ""},
                      {"scale_low", scale_low_, ""},
                      {"nan", static_cast<double>(nan_), "elements"}};
}

}  // namespace nanwatch
