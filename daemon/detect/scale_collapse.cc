#include "detect/scale_collapse.h"

#include <algorithm>
#include <limits>

#include "detect/sentence.h"
#include "model/scale_bound.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"warning_ratio", 16, 2, 1e9, "ratio",
     "BigScience tr1-13B: 65536 to 4096 in 20 iterations"},
    {"critical_ratio", 256, 2, 1e12, "ratio",
     "ours; apex#493 fell from 256 to 2 for good"},
    {"clear_ratio", 4, 1, 1e9, "ratio", "ours"},
    {"clear_after", 500, 1, 100000, "updates", "ours"},
    {"near_floor", 16, 1, 1e9, "ratio",
     "ours: 65536 to 128 and back was survived; four halvings are left"},
};

// A row of overflows at the end, as overflow_streak's; and how far it took the
// scale.
constexpr int64_t kEndRow = 5;   // updates; as overflow_streak's
constexpr double kEndRatio = 8;  // ratio; ours

// Some scalers grow past what a float holds.
constexpr double kLargest = std::numeric_limits<float>::max();

// Updates, at the rate of the fall; -1: no forecast. Steps between two records
// may have had overflows of their own.
int64_t FloorIn(const StepContext& c) {
  if (c.scaler.step_gap() > 1) return -1;
  return c.scaler.updates_to_floor().value_or(-1);
}

}  // namespace

constinit const RuleSpec ScaleCollapse::kSpec = {
    RuleId::kScaleCollapse,
    "scale_collapse",
    Family::kScale,
    "The loss scale fell far below a scale at which training went well.",
    "The largest scale with a good update among the last 50 is warning_ratio "
    "times the scale, or among the last 200 critical_ratio times; critical "
    "where it is then at most near_floor times its minimum (1 if it has none). "
    "At the end of a log it is critical, too, if 5 or more overflows in a row "
    "took it to an eighth of such a scale or less.",
    "Less than clear_ratio for clear_after updates, at a scale of 1 or more; "
    "or where the records end less than clear_ratio below where it fell from.",
    kThresholds,
    "A deep fall is critical only near the floor: runs survive a fall from "
    "65536 to 128 and back. Where a log ends in five overflows in a row "
    "that took the scale there, an eighth of the scale that worked is "
    "enough. A scale above the largest number of fp32 is taken for that "
    "number. "
    "The scale of a layer is judged from the first overflow on that its own "
    "gradient shows, where it never falls without one."};

void ScaleCollapse::NoteRow(const StepContext& c, double far, double low) {
  row_ = c.scaler.overflow_streak();
  if (row_ == 1) row_step_ = c.record.step;
  step_ = c.record.step;
  present_ = *c.scaler.scale();
  row_from_ = far;
  low_ = low;
}

Severity ScaleCollapse::OnEnd(Thresholds t) {
  // It is back: what is missing of clear_after will not come.
  if (present_ * t[kClearRatio] > from_) episode_.End();
  if (row_ < kEndRow || present_ > low_ || row_from_ < kEndRatio * present_) {
    return episode_.severity();
  }
  scale_ = present_;
  from_ = row_from_;
  return episode_.OnSince(row_step_, Severity::kCritical, false, step_,
                          t[kClear]);
}

Severity ScaleCollapse::OnStep(const StepContext& c, Thresholds t) {
  const double scale = c.scaler.scale().value_or(0);
  row_ = 0;
  if (scale == 0) return Severity::kNone;
  // A good update between two step lines of a log worked at a scale that
  // nobody knows: the scaler may be half way down.
  const bool good = c.scaler.good() && c.record.has(StepField::kLossScale);
  const float worked =
      good ? static_cast<float>(std::min(scale, kLargest)) : 0.0f;
  const int64_t steady = SteadySince(c, &update_);
  const auto push = [this](float value, int64_t count) {
    worked_50_.Push(value, count);
    worked_200_.Push(value, count);
  };
  push(worked_, steady);
  worked_ = worked;
  // A log that shows every tenth step must not make ten windows of one: what
  // was not recorded passes, as an unknown scale.
  const auto unseen = static_cast<int32_t>(
      std::clamp<int64_t>(c.scaler.step_gap() - 1, 0, kUnseen));
  push(0, unseen);
  push(worked, 1);
  const ScalerSpec* spec = c.scaler.spec();
  if (spec != nullptr && FollowsStatistics(spec->growth)) {
    return Severity::kNone;
  }
  const double far = worked_200_.maximum();
  const double low = t[kNearFloor] * std::max(1.0, c.scaler.floor());
  NoteRow(c, far, low);
  if (far < 2 * scale && !episode_.open()) return Severity::kNone;
  const double near = worked_50_.maximum();
  Severity trigger = Severity::kNone;
  const bool fell = far >= t[kCriticalRatio] * scale;
  if (fell && scale <= low) {
    trigger = Severity::kCritical;
  } else if (fell || near >= t[kWarningRatio] * scale) {
    trigger = Severity::kWarning;
  }
  if (trigger != Severity::kNone) {
    scale_ = scale;
    from_ = std::max(episode_.open() ? from_ : 0, fell ? far : near);
  }
  if (trigger != Severity::kNone || to_floor_ > 0) to_floor_ = FloorIn(c);
  if (episode_.open()) scale_ = std::min(scale_, scale);
  if (c.scaler.present_scale() == 0.0) scale_ = 0;
  // Below 1 there is no new level to get used to.
  const bool clean = far < t[kClearRatio] * scale && scale >= 1;
  return episode_.On(trigger, clean, c.record.step, t[kClear], 1 + unseen);
}

void ScaleCollapse::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence("The loss scale fell from ", from_,
                               ", where training worked, to ", scale_);
  if (scale_ > 0 && !BoundOf(scale_)) {
    finding->sentence += Sentence(", a factor of ", from_ / scale_);
  }
  if (to_floor_ > 0) {
    finding->sentence += Sentence("; at this rate it reaches its floor in ",
                                  to_floor_, " updates");
  }
  finding->sentence += ".";
  finding->numbers = {{"scale_before", from_, ""}, {"scale", scale_, ""}};
  if (to_floor_ > 0) {
    finding->numbers.push_back(
        {"attempts_to_floor", static_cast<double>(to_floor_), "updates"});
  }
}

}  // namespace nanwatch
