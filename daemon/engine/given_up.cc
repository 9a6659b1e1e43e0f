#include "engine/given_up.h"

#include <string>
#include <string_view>
#include <utility>

#include "detect/gnorm_explosion.h"
#include "detect/loss_nonfinite.h"
#include "detect/loss_spike.h"
#include "detect/scale_at_floor.h"
#include "diagnose/actions.h"

namespace nanwatch {
namespace {

struct Word {
  const RuleSpec& rule;
  Cause cause;  // likely
  std::string_view sentence;
};

Word WordOn(const GaveUp& gave_up) {
  const std::optional<StepField> over = gave_up.over;
  if (over == StepField::kLoss && gave_up.grown) {
    return {LossSpike::kSpec, Cause::kDivergence,
            "A loss that grows beyond all bounds comes from steps that are too "
            "large, or from the data."};
  }
  if (over == StepField::kLoss) {
    return {LossNonfinite::kSpec, Cause::kNanFromForward,
            "A loss that is not finite comes from the forward pass, the data "
            "or the weights."};
  }
  if (over == StepField::kGradNorm) {
    return {GnormExplosion::kSpec, Cause::kNanFromBackward,
            "Gradients that are not finite behind a finite loss come from an "
            "op's backward pass, the data or a device."};
  }
  return {ScaleAtFloor::kSpec, Cause::kScaleIndependentOp,
          "Overflows that no lower loss scale ends come from an op that the "
          "scale does not reach."};
}

}  // namespace

Incident IncidentOfWord(const GaveUp& gave_up, int64_t step) {
  const Word word = WordOn(gave_up);
  Incident incident;
  incident.family = incident.alert_family = word.rule.family;
  incident.rule = word.rule.id;
  incident.severity = incident.worst = Severity::kCritical;
  incident.opened_step = step;
  incident.summary = "The program gave up: " + gave_up.words;
  return incident;
}

Diagnosis DiagnosisOfWord(const GaveUp& gave_up, int64_t step,
                          const RunDescription& run) {
  const Word word = WordOn(gave_up);
  CauseVerdict cause;
  cause.cause = word.cause;
  cause.step = step;
  cause.rule = word.rule.id;
  cause.sentence = word.sentence;
  cause.rules = {word.rule.id};
  cause.actions = ActionsFor(word.cause, {.ops_collected = false, .step = step},
                             run.framework);
  KeepGeneral(run.framework, &cause.actions);
  Diagnosis diagnosis;
  diagnosis.causes.push_back(std::move(cause));
  diagnosis.condition = Condition::kTrouble;
  diagnosis.headline =
      "The program ended over its numerics; the log shows no trouble before.";
  return diagnosis;
}

}  // namespace nanwatch
