#include "detect/scale_stuck.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"intervals", 4, 1, 1000, "growth intervals", "ours"},
    {"assumed_intervals", 16, 1, 10000, "growth intervals",
     "ours: intervals of 10000 are in use and not declared"},
};

// The record shows that nothing overflowed and, if it shows the scale, that it
// stood.
bool Quiet(const StepContext& c) {
  if (c.scaler.overflowed()) return false;
  return c.record.has(StepField::kLossScale)
             ? c.scaler.last_transition() == Transition::kHeld
             : c.record.is_not(StepFlag::kOverflow);
}

bool StandsAtCeiling(const StepContext& c, double scale) {
  double ceiling = c.run.scaler.max_scale.value_or(0);
  if (ceiling == 0) {
    const ScalerSpec* spec = c.scaler.spec();
    ceiling = spec == nullptr ? INFINITY : spec->ceiling;
  }
  return scale * 2 > ceiling * 1.01;  // it would pass it, but for rounding
}

}  // namespace

constinit const RuleSpec ScaleStuck::kSpec = {
    RuleId::kScaleStuck,
    "scale_stuck",
    Family::kScale,
    "A dynamic loss scale stands still though nothing overflows: its scaler "
    "should have raised it long ago.",
    "No overflow and no change of the scale, below its ceiling, in an unbroken "
    "series of as many updates as intervals times the declared growth "
    "interval, or assumed_intervals times that of the named scaler.",
    "The scale changes.",
    kThresholds,
    "Only an unbroken series of records proves that a scale stood: one that "
    "rides the edge grows and falls within two updates. Only a scaler that "
    "was declared or named has an interval to be measured by."};

Severity ScaleStuck::OnStep(const StepContext& c, Thresholds t) {
  const int64_t gap = c.scaler.step_gap();
  const double scale = c.scaler.scale().value_or(0);
  if (scale != scale_ && episode_.open()) {
    episode_.On(Severity::kNone, true, c.record.step, 1);
  }
  scale_ = scale;
  if (!Quiet(c) || gap > 1 || gap < 0) {
    quiet_ = 0;
    return episode_.severity();
  }
  if (++quiet_ == 1) first_step_ = c.record.step;
  // Not reached by chance: looked at closely only then.
  if (quiet_ < 16 || episode_.open()) return episode_.severity();
  const ScalerDeclaration& said = c.run.scaler;
  interval_ = c.scaler.growth_interval();
  const double patience =
      t[said.growth_interval ? kIntervals : kAssumedIntervals];
  if (static_cast<double>(quiet_) < patience * static_cast<double>(interval_)) {
    return Severity::kNone;
  }
  const ScalerSpec* spec = c.scaler.spec();
  const bool told =
      said.growth_interval || (spec != nullptr && !c.scaler.recognised());
  if (!c.scaler.dynamic() || !told || interval_ <= 0 || scale == 0 ||
      (spec != nullptr && spec->growth != Growth::kConsecutive) ||
      StandsAtCeiling(c, scale)) {
    return Severity::kNone;
  }
  const Severity severity =
      episode_.On(Severity::kInfo, false, c.record.step, 1);
  episode_.OpenedAt(first_step_);
  return severity;
}

void ScaleStuck::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      "The loss scale stands at ", scale_, " for ", quiet_,
      " updates without an overflow, though it grows after ", interval_,
      " of them: look for an update() of the scaler that is not called, or a "
      "state that is made anew.");
  finding->numbers = {
      {"scale", scale_, ""},
      {"attempts", static_cast<double>(quiet_), "updates"},
      {"growth_interval", static_cast<double>(interval_), "updates"}};
}

}  // namespace nanwatch
