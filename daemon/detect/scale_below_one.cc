#include "detect/scale_below_one.h"

#include <algorithm>
#include <cmath>

#include "detect/program.h"
#include "detect/sentence.h"
#include "model/scale_bound.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 2, 1, 1000, "updates", "pytorch#99640"},
    {"critical_overflows", 3, 1, 1000, "updates",
     "fairseq#506 converges below 1 with isolated overflows"},
    {"critical_scale", 0x1p-8, 0, 1, "scale",
     "yolact#359 and apex#1135 learn nothing below it; what overflows there is "
     "above 2^24 unscaled"},
    {"window", 2000, 10, 1e6, "steps",
     "the longest growth interval that is usual: a scaler that does not raise "
     "such a scale within it overflows whenever it tries"},
    {"clear_after", 200, 1, 100000, "updates", "ours"},
};
bool IsUsual(double scale, const StepContext& c) {
  return scale >= 1 || scale >= LeastUsualScale(c.run);
}

// Updates: DeepSpeed's and Apex's windows are 100 and more (scale_at_floor).
constexpr int32_t kProbeAfter = 50;
constexpr int32_t kStands = 32;  // updates, of one that never moves; ours
constexpr double kRisen = 16;    // a scale; as scale_at_floor's `risen`

}  // namespace

constinit const RuleSpec ScaleBelowOne::kSpec = {
    RuleId::kScaleBelowOne,
    "scale_below_one",
    Family::kScale,
    "A dynamic loss scale below 1 makes gradients smaller than without any "
    "scaling, so they underflow.",
    "The scale is below 1 for hold updates in a row, a note while one overflow "
    "brought it there and none followed; critical with "
    "critical_overflows overflows since it last grew (or stood no lower than "
    "at the overflow before, 50 updates ago and more), or below "
    "critical_scale "
    "(where it was not seen to move, once it overflowed there, which is enough "
    "without hold). Also where it was "
    "never seen to move and the loss has not fallen since, for 96 losses, or "
    "three were the same to their last digit; a note where a log prints 0; "
    "critical then after window steps, below critical_scale, or where they "
    "were the same. One below critical_scale that never moved is a note "
    "after 32 updates, unless the run says that it is static. "
    "The lowest scale of a layer is judged in the same way, without regard to "
    "overflows.",
    "For clear_after updates the scale is 2 or more, or above critical_scale "
    "without an overflow; or it rose to 16. Of layers: 1 or more in as many "
    "records.",
    kThresholds,
    "The lowest of layer-wise scales is judged too, and its op is named. "
    "icefall begins at 1 and raises what is lower itself: there below 0.01, "
    "from which on it warns."};

void ScaleBelowOne::StandingLoss::Add(float loss) {
  if (loss != newest_) same_ = 0;
  if (same_ < kFrozen) ++same_;
  newest_ = loss;
  const float share = 1.0f / static_cast<float>(std::min(++losses_, kFirst));
  const float off = loss - level_;
  level_ += share * off;
  if (losses_ > 1) noise_ += share * (std::fabs(off) - noise_);
  if (losses_ <= kFirst) first_ = level_;
  // Means of so many differ by a quarter of it by chance.
  const float noise = std::max(noise_, 0.002f * std::fabs(first_));
  fell_ = fell_ || (losses_ >= kEnough && level_ < first_ - noise);
}

bool ScaleBelowOne::IsDead(const StepContext& c) {
  const StepRecord& r = c.record;
  const bool chosen = c.run.scaler.kind == ScalingKind::kStatic;
  if (chosen || c.scaler.dynamic() || overflows_ > 0) return false;
  if (below_ == 1) since_ = r.step;
  if (r.has(StepField::kLoss) && std::isfinite(r[StepField::kLoss])) {
    loss_.Add(static_cast<float>(r[StepField::kLoss]));
  }
  return loss_.stands();
}

void ScaleBelowOne::LookAtLayers(const StepContext& c, Thresholds t) {
  const double lowest = c.layers->of.lowest;
  // One that no number can be scaled with is scale_unrepresentable's.
  const bool below = lowest < 1 && lowest > 0;
  layer_below_ = below ? layer_below_ + 1 : 0;
  Severity trigger = Severity::kNone;
  if (layer_below_ >= t[kHold]) {
    trigger =
        lowest < t[kCriticalScale] ? Severity::kCritical : Severity::kWarning;
  }
  layers_.On(trigger, !below, *c.layers, c.record.step, t[kClear]);
}

Severity ScaleBelowOne::OnStep(const StepContext& c, Thresholds t) {
  if (c.layers != nullptr) LookAtLayers(c, t);
  const double scale = c.scaler.present_scale().value_or(1);
  const bool calm = IsUsual(scale, c) && below_ == 0 && !episode_.open();
  return calm ? layers_.severity()
              : std::max(LookAtScale(c, scale, t), layers_.severity());
}

Severity ScaleBelowOne::LookAtScale(const StepContext& c, double scale,
                                    Thresholds t) {
  if (IsUsual(scale, c)) {
    below_ = 0;
    overflows_ = since_growth_ = 0;
    overflow_scale_ = 0;
    loss_ = {};
    dead_ = false;
    if (scale >= kRisen) episode_.End();
    if (!episode_.open()) return Severity::kNone;
    return episode_.On(Severity::kNone, scale >= 2 || !c.scaler.overflowed(),
                       c.record.step, t[kClear]);
  }
  const bool first = ++below_ == static_cast<int32_t>(t[kHold]);
  // One that probes for the best scale below 1 overflows once in each growth
  // interval; one that collapses does not grow.
  // Some logs tell the scale with overflows alone: one that is no lower than at
  // the overflow before, long ago, grew in between.
  const bool overflow = c.scaler.overflowed();
  const bool stood = overflow && scale >= overflow_scale_ &&
                     below_ - overflow_at_ >= kProbeAfter;
  if (stood || c.scaler.last_transition() == Transition::kGrew) {
    since_growth_ = 0;
  }
  if (overflow) {
    ++overflows_;
    ++since_growth_;
    overflow_scale_ = static_cast<float>(scale);
    overflow_at_ = below_;
  }
  const bool tiny = scale < t[kCriticalScale];
  const bool news = first || tiny || overflow;
  Severity trigger = Severity::kNone;
  // Where it was never seen to move, an overflow at such a scale is enough.
  const bool moves = c.scaler.dynamic() || (tiny && overflows_ > 0);
  const bool told = below_ >= t[kHold] || (tiny && overflow);
  if (moves && told && news) {
    const bool critical = tiny || since_growth_ >= t[kCriticalOverflows];
    // It came down there once, as a healthy one may, and updates go through.
    const bool once = overflows_ == 1 && c.record.is_not(StepFlag::kOverflow);
    trigger = critical ? Severity::kCritical
              : once   ? Severity::kInfo
                       : Severity::kWarning;
    scale_ = scale;
  }
  // It may be one that nobody uses.
  const bool unused = !moves && first && BoundOf(scale);
  const bool stands = !moves && tiny && below_ >= kStands && !BoundOf(scale) &&
                      c.run.scaler.kind != ScalingKind::kStatic;
  if (unused || stands) {
    trigger = Severity::kInfo;
    scale_ = scale;
  }
  dead_ = IsDead(c);
  if (dead_) {
    const auto steps = static_cast<double>(c.record.step - since_);
    const bool critical = tiny || loss_.frozen() || steps >= t[kWindow];
    trigger = critical ? Severity::kCritical : Severity::kWarning;
    scale_ = scale;
  }
  // A log that shows neither the scale nor overflows shows no clean update.
  const bool known = !BoundOf(scale) || c.record.flags_present != 0;
  return episode_.OnSince(dead_ || unused || stands ? since_ : c.record.step,
                          trigger, known, c.record.step, t[kClear]);
}

void ScaleBelowOne::Describe(Finding* finding) const {
  if (layers_.severity() > episode_.severity()) {
    layers_.Describe(finding);
    finding->sentence = Sentence(
        "The loss scale of the layer ", layers_.name(), " is ", layers_.scale(),
        ", below 1, since step ", finding->opened_step,
        ": its gradients are made smaller than without any scaling.");
    return;
  }
  episode_.Describe(finding);
  const bool zero = scale_ == 0;
  // Where it is not below 1 any more, nobody counts.
  const bool over = below_ == 0;
  finding->sentence = Sentence(
      "The loss scale ", zero ? "fell below the smallest float and " : "",
      over ? "was " : "is ", scale_, ", below 1",
      over ? "" : Sentence(", for ", below_, " records"));
  if (overflows_ > 0) {
    // Logs that print a scale as 0 may tell no overflow either.
    finding->sentence += Sentence(
        ", and ", BoundOf(scale_) ? "at least " : "", overflows_,
        overflows_ == 1 ? " of them shows" : " of them show", " an overflow");
  }
  if (dead_) {
    finding->sentence += ": it never moves, and the loss does not fall.";
  } else {
    finding->sentence +=
        zero   ? ": no gradient is left of a loss times 0."
        : over ? ": gradients were made smaller than without any scaling."
               : ": gradients are made smaller than without any scaling.";
  }
  finding->numbers = {
      {"scale", scale_, ""},
      {"attempts_below_one", static_cast<double>(below_), "updates"},
      {"overflows_below_one", static_cast<double>(overflows_), "updates"}};
}

}  // namespace nanwatch
