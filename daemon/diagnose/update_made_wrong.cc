// Updates that learn nothing: the client saw how they are made, or what became
// of them.

#include "diagnose/brought.h"
#include "diagnose/cause_form.h"
#include "model/step.h"

namespace nanwatch {
namespace {

using enum RuleId;

struct OfFault {
  UpdateFault fault;
  RuleSet brings;  // rules on what follows from it
  std::string_view cure;
};

constexpr RuleSet kNothingLearned = {
    kWeightUnchanged, kLossNotDecreasing,  kUpdateRatio, kUnderflowMeasured,
    kGradVanishing,   kMetricAbsentAsZero, kGradRatio};
constexpr RuleSet kTooLarge =
    kNorm | kLossLevel |
    RuleSet{kUpdateNormSpike, kUpdateRatio, kGradRatio, kLossNotDecreasing};

constexpr OfFault kFaults[] = {
    {UpdateFault::kNoBackward, kNothingLearned,
     "Call loss.backward() between optimizer.zero_grad() and optimizer.step(). "
     "Where it is called: see whether its loss was detached from the weights "
     "that this optimizer holds (.item(), .detach(), torch.no_grad())."},
    {UpdateFault::kZeroed, kNothingLearned,
     "Call optimizer.zero_grad() before loss.backward() or after "
     "optimizer.step(), not between them."},
    {UpdateFault::kNoRate, kNothingLearned,
     "See where the learning rate is set: a schedule that has run out, is "
     "stepped at each batch and counts epochs, or counts from another step "
     "after a resume, or a rate of 0 in the configuration."},
    {UpdateFault::kOtherWeights, kNothingLearned,
     "Make the optimizer of the parameters of the model that is trained, after "
     "the last thing that replaces them (a copy, to(), a wrapper, a new head, "
     "a loaded checkpoint), and watch that model. Where the optimizer holds "
     "copies, as fp32 masters: copy them into the model after each step."},
    {UpdateFault::kNoStep, kNothingLearned | kScaleTrouble,
     "Call optimizer.step() after loss.backward(). Where it is called: see "
     "whether that is the optimizer which nanwatch was given."},
    {UpdateFault::kAllZero, kNothingLearned,
     "Find what cuts the gradient off: a mask that hides everything, labels "
     "that are all ignored, activations that are dead or saturated, two "
     "factors that both begin at 0 (A and B of a LoRA), a loss scale that is "
     "0, or none where gradients are too small for fp16."},
    {UpdateFault::kNotCleared, kTooLarge,
     "Call optimizer.zero_grad() once for each optimizer.step(). Where "
     "gradients are meant to be accumulated, call step() as seldom, and clear "
     "them after it."},
    {UpdateFault::kNotUnscaled, kTooLarge,
     "Call scaler.step(optimizer) and scaler.update() in place of "
     "optimizer.step(), or no scaler.scale() at all."},
    {UpdateFault::kNotScaled, kNothingLearned,
     "Call backward() of what scaler.scale(loss) returns: "
     "scaler.scale(loss).backward()."},
    {UpdateFault::kNotHeld, kNothingLearned,
     "Make the optimizer after the last change of the model, of all its "
     "parameters (optimizer.add_param_group adds some later). What is not to "
     "be trained: requires_grad_(False) says so, and spares its gradients."},
    {UpdateFault::kHeldBack, RuleSet(),
     "If it is not to be trained, requires_grad_(False) says so, and spares "
     "its gradients. If it is: give it to an optimizer (add_param_group)."},
    {UpdateFault::kNeverCalled, kNothingLearned,
     "Call step() of that optimizer, too: see whether another one's step() is "
     "called in its place."},
    {UpdateFault::kNotReached, RuleSet(),
     "If it is to be trained: find what cuts it off (.detach(), .data, "
     ".item(), torch.no_grad()), or why forward() leaves it out. If it is not: "
     "requires_grad_(False) says so."},
    {UpdateFault::kCutOff, kNothingLearned,
     "Find what cuts it off between its results and the loss: .detach(), "
     ".data, "
     ".item(), .numpy(), a new tensor made of them. If it is not to be "
     "trained: "
     "requires_grad_(False) says so, and torch.no_grad() spares its graph."},
    {UpdateFault::kClimbing, kTooLarge | RuleSet{kLossImpossible},
     "Take the minus away: the cross-entropy itself is to be minimised. To "
     "unlearn, it may be meant."},
};

const OfFault* Find(const Finding& finding) {
  const auto fault = static_cast<int>(NumberOf(finding, "fault").value_or(0));
  for (const OfFault& each : kFaults) {
    if (static_cast<int>(each.fault) == fault) return &each;
  }
  return nullptr;
}

bool Take(const Facts& f, RuleId rule, Match* match) {
  const auto of_rule = [rule](const Finding& finding) {
    return finding.rule == rule;
  };
  if (!match->BeginAt(f.found.FirstOfTheWorst(of_rule))) return false;
  match->verdict.rule = rule;
  match->verdict.grade = EvidenceGrade::kEstablished;
  return true;
}

}  // namespace

bool WhenUpdateMadeWrong(const Facts& f, const Matches&, Match* match) {
  if (!Take(f, kUpdateFault, match)) return false;
  const Finding& finding = *match->finding;
  const OfFault* fault = Find(finding);
  if (fault == nullptr || finding.severity <= Severity::kInfo) return true;
  match->verdict.rules |= fault->brings;
  if (!finding.subject.optimizer.empty()) {
    match->verdict.rules |=
        BroughtBy(Trouble::kOneIdle, finding.opened_step, f.found);
  }
  return true;
}

void SayUpdateMadeWrong(const Facts&, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
  const OfFault* const fault = Find(*match->finding);
  const bool of_rate = fault != nullptr && fault->fault == UpdateFault::kNoRate;
  match->Support(EvidenceGrade::kEstablished,
                 of_rate ? "The records tell the learning rate."
                         : "The client saw how the updates are made.");
  if (fault != nullptr) {
    match->Advise(std::string(fault->cure));
  }
}

bool WhenUpdateLost(const Facts& f, const Matches&, Match* match) {
  return Take(f, RuleId::kUpdateLost, match);
}

void SayUpdateLost(const Facts&, Match* match) {
  match->Say(match->Quote(*match->finding, InSummary::kAll));
}

}  // namespace nanwatch
