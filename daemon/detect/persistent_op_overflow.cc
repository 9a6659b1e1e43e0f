#include "detect/persistent_op_overflow.h"

#include <algorithm>
#include <utility>

#include "detect/bad_elements.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"bad_attempts", 3, 1, 10, "updates", "ours: of the last 10"},
    {"apart", 300, 0, 1e6, "s", "torch_npu ASD: cooldown 5 min"},
    {"within", 28800, 1, 1e8, "s", "torch_npu ASD: 480 min"},
    {"clear_after", 200, 1, 100000, "updates", "ours"},
};

// A gradient that overflows and skips its update moves the scale: whether that
// comes too often the rules of the scale say.
bool IsTheScalers(const OpContext& c) {
  const OpStatus& s = c.status;
  return IsOfGradient(s.slot) && s.get(OpCount::kNan).value_or(0) == 0 &&
         c.scaler.dynamic() && c.scaler.fate() == Fate::kLost;
}

}  // namespace

constinit const RuleSpec PersistentOpOverflow::kSpec = {
    RuleId::kPersistentOpOverflow,
    "persistent_op_overflow",
    Family::kOp,
    "The same op overflows again and again.",
    "Bad in `bad_attempts` of the last 10 updates; or, without a dynamic "
    "scaler, three times, `apart` seconds or more from each other and in a "
    "span of `within` seconds. For information during calibration, and where "
    "all of it is -infinity, as a mask writes it, and loss and update are "
    "sound; a warning for infinities of a gradient whose update a dynamic "
    "scaler skips.",
    "clear_after updates without a bad status.",
    kThresholds,
    "What is for information, and which ops do no harm, is decided as for "
    "op_overflow_origin. Infinities of a gradient that a dynamic scaler "
    "answers are a warning when they are more than one or two: the rules of "
    "the scale say what those mean, whether or not ops are reported."};

bool PersistentOpOverflow::ThreeStrikes(const OpContext& c, bool bad,
                                        Thresholds t) {
  if (!bad || c.scaler.dynamic()) return false;
  const Time now = c.status.time;
  const bool same =
      last_bad_ != Time{} && ToSeconds(now - last_bad_) < t[kApart];
  last_bad_ = now;
  if (same) return false;
  incidents_ = {now, incidents_[0], incidents_[1]};
  return incidents_[2] != Time{} &&
         ToSeconds(now - incidents_[2]) <= t[kWithin];
}

Severity PersistentOpOverflow::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const bool bad = CountBad(c).any() || s.device_flag.value_or(false);
  if (update_ >= 0 && c.update > update_) {
    bad_10_.Skip(c.update - update_ - 1);
  }
  if (update_ < 0 || c.update > update_) {
    bad_10_.Push(false);
    counted_ = false;
  }
  // An op may have a clean status and a bad one in one update.
  if (bad) bad_10_.SetNewest();
  if (bad && !std::exchange(counted_, true)) ++bad_updates_;
  update_ = std::max(update_, c.update);
  Severity trigger = Severity::kNone;
  const bool strikes = ThreeStrikes(c, bad, t);
  if (bad && (bad_10_.ones() >= t[kBadUpdates] || strikes)) {
    trigger = Calibrating(c) || IsAbsorbedMask(c) ? Severity::kInfo
              : IsTheScalers(c)                   ? Severity::kWarning
                                                  : Severity::kCritical;
    scale_ = c.scaler.present_scale().value_or(0);
    applied_ = c.scaler.fate() == Fate::kApplied;
    strikes_ = strikes;
  }
  const Severity severity =
      episode_.On(trigger, bad, c.update, s.step, t[kClear]);
  const bool may_strike =
      last_bad_ != Time{} && ToSeconds(s.time - last_bad_) <= t[kWithin];
  if (bad_10_.ones() == 0 && severity == Severity::kNone && !may_strike) {
    bad_updates_ = 0;
  }
  return severity;
}

void PersistentOpOverflow::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      strikes_ ? Sentence("Bad again and again, three times minutes apart")
               : Sentence("Bad in ", bad_10_.ones(), " of the last ",
                          bad_10_.size(), " updates");
  finding->sentence += Sentence(", in ", bad_updates_, " in all");
  if (scale_ > 0) {
    finding->sentence += Sentence(", now at loss scale ", scale_);
  }
  finding->sentence +=
      applied_ ? "; the updates are applied all the same." : ".";
  finding->numbers = {
      {"bad_of_last_10", static_cast<double>(bad_10_.ones()), "updates"},
      {"bad_attempts", static_cast<double>(bad_updates_), "updates"},
      {"scale", scale_, ""}};
}

}  // namespace nanwatch
