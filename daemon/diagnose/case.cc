#include "diagnose/case.h"

#include <cmath>

namespace nanwatch {

CauseThresholds::CauseThresholds(const RuleThresholds& rules)
    : floor_streak(static_cast<uint64_t>(
          rules.Get(RuleId::kScaleAtFloor, "critical_streak"))),
      tiny_scale(rules.Get(RuleId::kScaleBelowOne, "critical_scale")),
      collapse_ratio(rules.Get(RuleId::kScaleCollapse, "critical_ratio")),
      streak(
          static_cast<int64_t>(rules.Get(RuleId::kOverflowStreak, "warning"))),
      scales_apart(
          std::exp2(rules.Get(RuleId::kOverflowNotScaleDependent, "halvings"))),
      underflows(rules.Get(RuleId::kUnderflowMeasured, "warning")),
      vanishes(rules.Get(RuleId::kUnderflowMeasured, "critical")),
      headroom(rules.Get(RuleId::kUnderflowPredicted, "headroom")) {}

bool IsScaled(const Case& c) {
  const ScalingKind kind = c.run.scaler.kind;
  if (c.evidence.scale_now || c.evidence.scaler_dynamic) return true;
  if (kind != ScalingKind::kUnknown) return kind != ScalingKind::kNone;
  return HasFp16(c.run);
}

}  // namespace nanwatch
