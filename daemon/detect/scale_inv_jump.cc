#include "detect/scale_inv_jump.h"

#include <algorithm>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"ratio", 4, 4, 1e9, "ratio", "ours, for delayed scaling"},
    {"jumps", 3, 1, 64, "jumps", "ours: of the last 64 updates"},
    {"clear_after", 64, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec ScaleInvJump::kSpec = {
    RuleId::kScaleInvJump,
    "scale_inv_jump",
    Family::kFp8,
    "The scale of an FP8 tensor jumps again and again: delayed scaling is "
    "behind each time.",
    "jumps times within 64 updates scale_inv is ratio times the one before, "
    "or less by as much, after 16 statuses of the tensor.",
    "clear_after updates without a jump.",
    kThresholds,
    "Three jumps in 64 updates are asked for. One follows one outlier, "
    "which is what delayed scaling is for."};

Severity ScaleInvJump::OnOp(const OpContext& c, Thresholds t) {
  const auto now = c.status.get(OpStat::kFp8ScaleInv);
  const float before = c.trend.scale_inv_before;
  if (!now || !(*now > 0) || !(before > 0)) return episode_.severity();
  const bool jump = *now >= t[kRatio] * before || *now * t[kRatio] <= before;
  if (update_ >= 0 && c.update > update_) {
    jumps_.Skip(c.update - update_ - 1);
  }
  if (update_ < 0 || c.update > update_) {
    jumps_.Push(jump);
  } else if (jump) {
    jumps_.SetNewest();
  }
  update_ = std::max(update_, c.update);
  Severity trigger = Severity::kNone;
  if (jump) {
    before_ = before;
    after_ = *now;
    if (jumps_.ones() >= t[kJumps]) trigger = Severity::kWarning;
  }
  return episode_.On(trigger, jump, c.update, c.status.step, t[kClear]);
}

void ScaleInvJump::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("scale_inv jumped ", jumps_.ones(), " times in ", jumps_.size(),
               " updates, last from ", before_, " to ", after_, ".");
  finding->numbers = {{"jumps", static_cast<double>(jumps_.ones()), "jumps"},
                      {"before", before_, ""},
                      {"after", after_, ""}};
}

}  // namespace nanwatch
