#include "detect/scale_at_floor.h"

#include <algorithm>

#include "detect/program.h"
#include "detect/sentence.h"
#include "model/scale_bound.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"nominal_floor", 1, 0, 1e6, "scale", "Megatron, DeepSpeed, jmp: floor 1"},
    {"critical_streak", 3, 1, 1000, "updates",
     "an isolated overflow at the floor is survived in public logs"},
    {"clear_after", 200, 1, 100000, "updates", "ours"},
    {"probe_after", 50, 1, 100000, "steps",
     "ours: DeepSpeed's and Apex's windows are 100 and more"},
    {"probe", 3, 1, 100, "overflows", "ours: a hysteresis of 2, and one more"},
    {"risen", 16, 2, 1e6, "ratio", "ours: scale_collapse's near_floor"},
};

// Overflows in a row that leave a scale where it is: many scalers forgive one.
constexpr int64_t kStands = 2;  // Megatron's hysteresis
// A search that begins low ends above this share of a floor, and within so many
// overflows: from 128, where fairseq begins, to 1/2 they are 8.
constexpr double kFarBelow = 0.125;
constexpr int64_t kAgain = 2;        // overflows at the floor; ours
constexpr int64_t kLongSearch = 10;  // overflows; ours
constexpr double kFarAbove = 256;    // ratio; as scale_collapse's
constexpr int64_t kWentWell = 100;   // updates: no search of the start; ours

}  // namespace

constinit const RuleSpec ScaleAtFloor::kSpec = {
    RuleId::kScaleAtFloor,
    "scale_at_floor",
    Family::kScale,
    "A dynamic loss scale has fallen to its floor and cannot answer the next "
    "overflow.",
    "The scale fell to the scaler's floor (nominal_floor where it has none, "
    "or where an undeclared one leaves the scale there in two overflows in a "
    "row); "
    "for information where that was a probe: at most `probe` overflows since "
    "it grew (or stood no lower, probe_after steps after the one before); "
    "critical once critical_streak updates in a row overflowed there (where "
    "no update was ever good: the last of them, and a tenth of all, there; "
    "where all overflowed since it stood 256 times higher, in a training that "
    "went well: two).",
    "No overflow but probes for clear_after updates, or `risen` times the "
    "floor: each growth is a stretch of good updates.",
    kThresholds,
    "A scale at its floor is a warning, and critical only when overflow "
    "follows overflow there. Runs that recovered had one or two such "
    "overflows, and all of those were in the search of the start. Two are "
    "enough where the training went well at 256 times that scale and every "
    "update overflowed since. A scaler that probes from 1 or 2 comes to "
    "its floor again and again, which is for information. A scale of 1 that "
    "stands while overflow follows overflow is at its floor, whatever "
    "scaler its moves fit. Clean updates at the floor clear the rule: a "
    "low scale is no fault, overflow upon overflow is. The scale of a layer "
    "is judged from the first overflow on that its own gradient shows."};

bool ScaleAtFloor::IsCritical(const ScalerTracker& scaler, Thresholds t) const {
  if (static_cast<double>(floor_streak_) >= t[kCriticalStreak]) return true;
  // No batch does that: a training went well far above, and all overflowed
  // since, at the floor again.
  const double far = kFarAbove * scale_;
  if (floor_streak_ >= kAgain && top_ >= far &&
      scaler.highest_good_scale() >= far && scaler.good_steps() >= kWentWell) {
    return true;
  }
  // Never good: the overflows of the fall count too, and where it goes on far
  // below the floor that no scaler keeps, they are all. But at the end of a
  // long search one or two at a floor are nothing yet: a run with 35 converged.
  return scaler.good_steps() == 0 &&
         static_cast<double>(scaler.overflow_streak()) >= t[kCriticalStreak] &&
         (scale_ < 0.995 * floor_ ? scale_ < kFarBelow * floor_ ||
                                        scaler.overflow_streak() > kLongSearch
                                  : floor_streak_ * 10 >= scaler.updates());
}

bool ScaleAtFloor::Probes(const StepContext& c, double scale, Thresholds t) {
  const ScalerTracker& scaler = c.scaler;
  if (scaler.last_transition() == Transition::kGrew) falls_ = 0;
  if (!scaler.overflowed()) return probes_;
  // Some logs tell the scale with overflows alone: it is no lower than then.
  const auto quiet = static_cast<double>(c.record.step - overflow_step_);
  if (overflow_scale_ > 0 && quiet >= t[kProbeAfter] &&
      scale >= overflow_scale_) {
    falls_ = 0;
  }
  probes_ = ++falls_ <= t[kProbe];
  overflow_step_ = c.record.step;
  overflow_scale_ = scale;
  return probes_;
}

double ScaleAtFloor::FloorOf(const StepContext& c, Thresholds t,
                             int64_t* stands) {
  const ScalerTracker& scaler = c.scaler;
  const bool stood = scaler.last_transition() == Transition::kHeld &&
                     scaler.overflow_streak() > 1;
  stood_ = stood ? stood_ + 1 : 0;
  *stands = 0;
  const double nominal = std::min(t[kNominalFloor], LeastUsualScale(c.run));
  const double floor = scaler.floor() > 0 ? scaler.floor() : nominal;
  const double scale = scaler.present_scale().value_or(0);
  const bool declared = scaler.spec() != nullptr && !scaler.recognised();
  if (declared || stood_ < kStands || scale < floor || scale > nominal) {
    return floor;
  }
  *stands = stood_;
  return scale;
}

Severity ScaleAtFloor::OnStep(const StepContext& c, Thresholds t) {
  const ScalerTracker& scaler = c.scaler;
  if (!scaler.dynamic()) return episode_.severity();
  const double scale = scaler.present_scale().value_or(0);
  present_ = static_cast<float>(scale);
  int64_t stands = 0;
  const double floor = FloorOf(c, t, &stands);
  const double at_most = floor * 1.005;  // logs round
  const bool at =
      scale <= at_most && scaler.first_scale().value_or(0) > at_most;
  const bool overflow = scaler.overflowed();
  const bool probes = Probes(c, scale, t);
  if (!overflow || !at) floor_streak_ = 0;
  if (overflow && scaler.overflow_streak() == 1) {
    top_ = static_cast<float>(scale);
  }
  Severity trigger = Severity::kNone;
  if (at && overflow) {
    if (!episode_.open()) overflows_at_floor_ = 0;
    if (!probes) {
      trigger = Severity::kWarning;
    } else if (episode_.severity() <= Severity::kInfo) {
      trigger = Severity::kInfo;
    }
    scale_ = scale;
    floor_ = floor;
    nominal_ = !(scaler.floor() > 0) || stands > 0;
    if (was_at_ || stands > 0) {
      // That the first of them stood, the second shows.
      overflows_at_floor_ += was_at_ ? 1 : stands;
      floor_streak_ += was_at_ ? 1 : stands;
      if (IsCritical(scaler, t)) trigger = Severity::kCritical;
    }
  }
  was_at_ = at;
  if (scale >= t[kRisen] * floor_) episode_.End();
  return episode_.On(trigger, !overflow || probes, c.record.step, t[kClear]);
}

// What may come is said only while it is still there.
std::string ScaleAtFloor::Say(Tense tense) const {
  // A record may tell of several.
  const std::string overflows =
      Sentence("; overflows came in ", overflows_at_floor_,
               overflows_at_floor_ == 1 ? " record" : " records");
  const bool is = was_at_ && tense == Tense::kPresent;
  const std::string rose =
      was_at_ ? std::string(".")
              : Sentence(", and rose to ", present_, " since.");
  if (BoundOf(scale_)) {
    return Sentence("The loss scale fell to ", scale_,
                    ": the log has too few digits to say how low it is.");
  }
  if (nominal_) {
    return Sentence(
        "The loss scale fell to ", scale_, " (its scaler's floor is not known)",
        overflows_at_floor_ > 0
            ? Sentence(overflows, " ",
                       scale_ < floor_ ? Sentence("at ", floor_, " or below")
                                       : std::string("there"),
                       ", where a lower scale does not help.")
        : is ? std::string("; it will fall on, to 0, if overflows go on.")
             : rose);
  }
  return Sentence(
      "The loss scale fell to ", scale_, ", its floor",
      overflows_at_floor_ > 0
          ? Sentence(overflows, " there, where the scaler can do nothing more.")
      : is ? std::string("; the next overflow cannot lower it further.")
           : rose);
}

void ScaleAtFloor::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->SayBoth([this](Tense tense) { return Say(tense); });
  finding->numbers = {{"scale", scale_, ""},
                      {"floor", floor_, ""},
                      {"overflows_at_floor",
                       static_cast<double>(overflows_at_floor_), "updates"}};
}

}  // namespace nanwatch
