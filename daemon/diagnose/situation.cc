#include "diagnose/situation.h"

#include <algorithm>

#include "diagnose/scale_facts.h"
#include "model/step.h"

namespace nanwatch {
namespace {

using Course = Situation::Course;

constexpr RuleSet kLeftLevel =
    kLossLevel | kNorm | RuleSet{RuleId::kLossImpossible};
// What no cause explains, and has advice of its own.
constexpr RuleSet kOwnAdvice =
    kToldOfParts | RuleSet{RuleId::kRivalGone, RuleId::kGradVanishing,
                           RuleId::kDataFromStart, RuleId::kNumberNonfinite};
constexpr RuleSet kMoreThanProbing = {
    RuleId::kScaleCollapse, RuleId::kOverflowStreak, RuleId::kOverflowRate};

// True for a part of the model that is not trained.
bool IsOfPartOfModel(const Finding& finding) {
  const double fault = NumberOf(finding, "fault").value_or(0);
  return finding.rule == RuleId::kUpdateFault &&
         IsOfPart(static_cast<UpdateFault>(static_cast<int>(fault)));
}

// True when the run declares the cure. A static scale whose overflow check is
// off skips no update; nor is one skipped for a mask.
bool IsCured(const CauseVerdict& verdict, const RunDescription& run) {
  if (verdict.cause != Cause::kHarmlessPadding) return false;
  const bool mask = verdict.grade != EvidenceGrade::kEstablished &&
                    verdict.ceiling == Severity::kInfo;
  return mask || (run.scaler.kind == ScalingKind::kStatic &&
                  run.scaler.overflow_check == false);
}

// True for a telemetry_gap of ranks whose clients dropped records, alone.
bool IsOfDrops(const Finding& finding) {
  double dropped = 0;
  double missing = 0;
  for (const EvidenceNumber& number : finding.numbers) {
    (number.name.starts_with("dropped_") ? dropped : missing) += number.value;
  }
  return finding.rule == RuleId::kTelemetryGap && dropped > 0 && missing == 0;
}

// True for a note of a loss that rose little by little.
bool IsOfRise(const Finding& finding) {
  const auto loss = NumberOf(finding, "loss");
  const auto first = NumberOf(finding, "first");
  return finding.rule == RuleId::kLossNotDecreasing &&
         finding.severity == Severity::kInfo && loss && first && *loss > *first;
}

// Returns the rule by which the advice goes; kNone: it goes by the family.
RuleId PartOf(const Finding& finding) {
  if (kOwnAdvice.has(finding.rule)) return finding.rule;
  if (kLeftLevel.has(finding.rule) || IsOfRise(finding)) {
    return RuleId::kLossSpike;
  }
  if (finding.rule == RuleId::kLossNotDecreasing &&
      NumberOf(finding, "norms_not_finite")) {
    return RuleId::kOverflowStreak;
  }
  if (finding.rule == RuleId::kLossNonfinite &&
      NumberOf(finding, "loss_before")) {
    return finding.rule;
  }
  // A loss that stands still for want of gradients.
  const bool none = finding.rule == RuleId::kLossNotDecreasing &&
                    NumberOf(finding, "grad_norm") == 0.0;
  return none ? RuleId::kGradVanishing : RuleId::kNone;
}

// Returns what is to be expected of a level that was left.
Course CourseOf(const Finding& finding) {
  constexpr double kLong = 64;  // records; ours: most spikes are shorter
  if (NumberOf(finding, "grown_from")) return Course::kGrows;
  if (finding.rule == RuleId::kLossImpossible) return Course::kFromStart;
  const bool stays = finding.rule == RuleId::kLossHighPlateau ||
                     NumberOf(finding, "stands") ||
                     NumberOf(finding, "records").value_or(0) >= kLong;
  return !stays                    ? Course::kPasses
         : kNorm.has(finding.rule) ? Course::kNormStays
                                   : Course::kStays;
}

}  // namespace

bool HasOwnAdvice(const Finding& finding) {
  return finding.family == Family::kLoss || kOwnAdvice.has(finding.rule);
}

Situation SituationOf(const Facts& f, const CauseVerdict& verdict) {
  Situation s;
  // Advice on the named op is none where no op is named.
  s.ops_collected =
      f.evidence.ops_collected && ((verdict.cause != Cause::kNanFromForward &&
                                    verdict.cause != Cause::kNanFromBackward) ||
                                   !verdict.origin.op.empty());
  s.cured = IsCured(verdict, f.run);
  s.established = verdict.grade == EvidenceGrade::kEstablished;
  s.often = !s.established;
  s.fixed = !f.evidence.scaler_dynamic && !f.unseen;
  s.stuck = f.stuck;
  s.scaled = f.scaled || (verdict.cause == Cause::kUnderflow &&
                          f.evidence.underflow_fraction.value_or(0) > 0);
  s.step = verdict.step;
  s.from_start =
      f.evidence.updates_before == 0 && verdict.step <= f.evidence.first_step;
  Severity worst = Severity::kNone;
  bool missing = false;
  for (const Finding& finding : f.found) {
    if (!Explains(verdict, finding)) continue;
    missing = missing || !IsOfDrops(finding);
    worst = std::max(worst, finding.severity);
    if (finding.severity > Severity::kInfo && kLeftLevel.has(finding.rule)) {
      s.course = std::max(s.course, CourseOf(finding));
    }
    if (verdict.cause == Cause::kUnexplained) {
      const RuleId part = PartOf(finding);
      if (s.part == RuleId::kNone) s.part = part;
      s.blown |= part == RuleId::kScoreLost &&
                 NumberOf(finding, "stands") > NumberOf(finding, "best");
      s.unused |= part == RuleId::kScoreLost &&
                  NumberOf(finding, "divergence").has_value();
      s.of_loss = s.of_loss ||
                  (finding.family == Family::kLoss && part == RuleId::kNone);
    }
    s.of_part = s.of_part || IsOfPartOfModel(finding);
    s.often = s.often || kMoreThanProbing.has(finding.rule);
  }
  // Windows of rules remember a start-up that is over.
  s.over = worst == Severity::kNone ||
           (verdict.cause == Cause::kStartupCalibration &&
            StartUpIsOver(f.evidence));
  s.severe = worst == Severity::kCritical;
  s.applied =
      verdict.cause == Cause::kDivergence && f.evidence.applied_overflows > 0;
  if (verdict.cause == Cause::kNanFromForward) {
    if (f.forward && f.forward->origin) s.maker = MakerOf(*f.forward->origin);
    s.outlived = f.found.has(RuleId::kLossNonfinite) &&
                 !f.found.Any([](const Finding& finding) {
                   return finding.rule == RuleId::kLossNonfinite &&
                          !NumberOf(finding, "outlived");
                 });
    s.spoilt = !s.outlived && (f.evidence.applied_overflows > 0 ||
                               (f.forward && f.forward->spoilt > 0));
    s.never_finite = !s.spoilt && f.evidence.loss_nonfinite > 0 &&
                     f.evidence.loss_finite == 0;
  }
  s.dropped = !missing && worst != Severity::kNone;
  return s;
}

}  // namespace nanwatch
