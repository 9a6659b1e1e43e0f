#include "diagnose/diagnose.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "diagnose/actions.h"
#include "diagnose/causes.h"
#include "diagnose/framework.h"
#include "diagnose/headline.h"
#include "diagnose/op_facts.h"

namespace nanwatch {
namespace {

// In the order in which they are believed when their grades are equal.
constexpr CauseFunction kCauseFunctions[] = {
    LoneWildWeight,
    HarmlessPadding,
    NanFromForward,
    NanFromBackward,
    ScaleIndependentOp,
    OutlierBatch,
    SilentCorruption,
    RankDisagreement,
    ScalerMisuse,
    LayerScaleCollapse,
    StartupCalibration,
    RangeOverflow,
    CollapseWithUnderflow,
    NoSingleScaleFits,
    Underflow,
    Fp8Scaling,
    Divergence,
    Silence,
};

bool ExplainsAny(const CauseVerdict& cause, std::span<const Finding> findings) {
  return std::any_of(
      findings.begin(), findings.end(),
      [&](const Finding& finding) { return Explains(cause, finding); });
}

bool Overlap(const CauseVerdict& a, const CauseVerdict& b,
             std::span<const Finding> findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) {
                       return Explains(a, finding) && Explains(b, finding);
                     });
}

bool IsFirstOfAny(const Diagnosis& diagnosis, const CauseVerdict& cause,
                  std::span<const Finding> findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) {
                       return FirstCause(diagnosis, finding) == &cause;
                     });
}

// By the worst finding that this cause, and none before it, explains. Causes of
// what is found now weigh more than those of what is over.
int Weight(const Diagnosis& diagnosis, const CauseVerdict& cause,
           std::span<const Finding> findings) {
  Severity worst = Severity::kNone;
  for (const Finding& finding : findings) {
    if (FirstCause(diagnosis, finding) == &cause) {
      worst = std::max(worst, Capped(cause, finding));
    }
  }
  const int found =
      worst == Severity::kNone ? 0 : static_cast<int>(Severity::kCritical);
  return found +
         static_cast<int>(worst == Severity::kNone ? cause.ceiling : worst);
}

// The worst comes first. A cause never passes one that is better established
// and explains a finding of its own: who explains what stays as it is.
void PutWorstFirst(Diagnosis* diagnosis, std::span<const Finding> findings) {
  std::vector<int> weights;
  for (const CauseVerdict& cause : diagnosis->causes) {
    weights.push_back(Weight(*diagnosis, cause, findings));
  }
  std::vector<CauseVerdict>& causes = diagnosis->causes;
  for (size_t i = 1; i < causes.size(); ++i) {
    for (size_t j = i; j > 0 && weights[j] > weights[j - 1] &&
                       !Overlap(causes[j], causes[j - 1], findings);
         --j) {
      std::swap(causes[j], causes[j - 1]);
      std::swap(weights[j], weights[j - 1]);
    }
  }
}

// All that `cause` explains is explained by established ones before it.
bool IsEcho(const Diagnosis& diagnosis, const CauseVerdict& cause,
            std::span<const Finding> findings) {
  bool explains = false;
  for (const Finding& finding : findings) {
    if (!Explains(cause, finding)) continue;
    explains = true;
    const CauseVerdict* first = FirstCause(diagnosis, finding);
    if (first == &cause || first->grade != EvidenceGrade::kEstablished) {
      return false;
    }
  }
  return explains;
}

// What says nothing new beside an established cause is left out.
void DropEchoes(Diagnosis* diagnosis, std::span<const Finding> findings) {
  std::vector<CauseVerdict> kept;
  for (const CauseVerdict& cause : diagnosis->causes) {
    if (!IsEcho(*diagnosis, cause, findings)) kept.push_back(cause);
  }
  diagnosis->causes = std::move(kept);
}

// After those that the cause made itself out of its numbers; of these, too,
// only the framework's.
void AddActions(const Case& c, std::string_view framework,
                CauseVerdict* cause) {
  std::erase_if(cause->actions, [&](const Action& action) {
    return !IsMeantFor(action.framework, framework);
  });
  for (Action& action :
       ActionsFor(cause->cause, SituationOf(c, *cause), framework)) {
    cause->actions.push_back(std::move(action));
  }
}

// Of an op that was never bad nothing more than its name is known here.
void AddTypes(const RunEvidence& evidence, CauseVerdict* cause) {
  for (const OpEvidence& op : evidence.ops) {
    if (!IsOf(op, cause->origin)) continue;
    cause->op_type = op.op.type;
    cause->op_dtype = op.op.dtype;
    return;
  }
}

// Nothing is found now: what was comes first, with what spares it the next run.
void PutEarlierFirst(const Case& c, Diagnosis* diagnosis) {
  const RunEvidence& e = c.evidence;
  if (e.earlier.empty() || !e.earlier_cause || IsKnownBetter(c, *diagnosis)) {
    return;
  }
  for (const Finding& finding : c.findings) {
    if (UnderCeiling(*diagnosis, finding) > Severity::kInfo) return;
  }
  std::vector<CauseVerdict>& causes = diagnosis->causes;
  const auto known = std::find_if(
      causes.begin(), causes.end(),
      [&](const CauseVerdict& v) { return v.cause == *e.earlier_cause; });
  if (known != causes.end()) {
    const bool overlaps =
        std::any_of(causes.begin(), known, [&](const CauseVerdict& before) {
          return Overlap(before, *known, c.findings);
        });
    if (overlaps) {  // who explains what stays as it is
      if (IsFirstOfAny(*diagnosis, *known, c.findings)) return;
      known->rules = {};
    }
    std::rotate(causes.begin(), known, known + 1);
    return;
  }
  // A cause that no finding supports any more is a memory.
  CauseVerdict verdict;
  verdict.cause = *e.earlier_cause;
  verdict.grade = EvidenceGrade::kSupported;
  verdict.ceiling = Severity::kInfo;
  verdict.step = e.earlier_from;
  verdict.sentence = e.earlier_to < 0 ? "Not found any more: " + e.earlier
                                      : fmt::format("Over since step {}: {}",
                                                    e.earlier_to, e.earlier);
  causes.insert(causes.begin(), std::move(verdict));
}

// Nothing was ever odd: no cause needs to be looked for.
bool Spotless(const RunEvidence& e, std::span<const Finding> findings) {
  return findings.empty() && e.last_overflow_step < 0 && e.overflows == 0 &&
         e.ops.empty() && e.loss_nonfinite == 0 && e.outliers.empty() &&
         e.earlier.empty();
}

}  // namespace

Diagnosis Diagnose(const RunDescription& run, const RunEvidence& evidence,
                   std::span<const Finding> findings) {
  const Case c{run, evidence, findings};
  Diagnosis diagnosis;
  if (!Spotless(evidence, findings)) {
    for (const CauseFunction function : kCauseFunctions) {
      std::optional<CauseVerdict> verdict = function(c);
      if (!verdict) continue;
      // What is over and established is told as well: a poisoned batch is worth
      // knowing after the scaler has skipped it. That the loss was not finite
      // is, also where it is not known which op began it.
      const bool nan_loss = (verdict->cause == Cause::kNanFromForward ||
                             verdict->cause == Cause::kNanFromBackward) &&
                            evidence.loss_nonfinite > 0;
      if (!ExplainsAny(*verdict, findings) && !nan_loss &&
          verdict->grade != EvidenceGrade::kEstablished) {
        continue;
      }
      diagnosis.causes.push_back(*std::move(verdict));
    }
    std::stable_sort(diagnosis.causes.begin(), diagnosis.causes.end(),
                     [](const CauseVerdict& a, const CauseVerdict& b) {
                       return a.grade > b.grade;
                     });
    if (auto rest = Unexplained(c, diagnosis)) {
      diagnosis.causes.push_back(*std::move(rest));
    }
    DropEchoes(&diagnosis, findings);
    PutWorstFirst(&diagnosis, findings);
    PutEarlierFirst(c, &diagnosis);
    const std::string framework = FrameworkOf(run, evidence);
    for (CauseVerdict& cause : diagnosis.causes) {
      AddActions(c, framework, &cause);
      AddTypes(evidence, &cause);
    }
  }
  diagnosis.headline = Headline(c, diagnosis);
  return diagnosis;
}

Severity UnderCeiling(const Diagnosis& diagnosis, const Finding& finding) {
  const CauseVerdict* cause = FirstCause(diagnosis, finding);
  return cause == nullptr ? finding.severity : Capped(*cause, finding);
}

}  // namespace nanwatch
