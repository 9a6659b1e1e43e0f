// Underflow without a collapse: the loss scale is simply lower than it could
// be, or there is none, and small gradients are lost for it.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "diagnose/causes.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr RuleId kMeasured = RuleId::kUnderflowMeasured;
constexpr RuleId kPredicted = RuleId::kUnderflowPredicted;
constexpr RuleId kNoSingleScale = RuleId::kNoSingleScale;

struct Found {
  const Finding* measured = nullptr;
  const Finding* predicted = nullptr;
  std::optional<double> headroom;  // the newest that a finding tells
  std::optional<double> better;    // loss scale
};

Found Look(const Case& c) {
  Found found;
  for (const Finding& finding : c.findings) {
    if (finding.rule != kMeasured && finding.rule != kPredicted) continue;
    const Finding*& of =
        finding.rule == kMeasured ? found.measured : found.predicted;
    if (of == nullptr || finding.severity > of->severity) of = &finding;
    if (const auto bits = NumberOf(finding, "headroom")) {
      found.headroom = std::min(found.headroom.value_or(*bits), *bits);
    }
    if (const auto scale = NumberOf(finding, "recommended_scale")) {
      found.better = std::min(found.better.value_or(*scale), *scale);
    }
  }
  return found;
}

// Whole tensors became exactly 0 while neither the scale fell nor the learning
// rate rose: no numbers that are lost here and there, but a layer to which
// nothing leads back.
bool IsOfALayer(const Finding& finding) {
  return finding.rule == kMeasured && !finding.subject.op.empty() &&
         NumberOf(finding, "zeroed_tensors").has_value();
}

// Most of the model, in its first steps: units whose activation is 0 whatever
// comes.
bool DiedEarly(const Finding& finding) {
  return finding.rule == kMeasured &&
         NumberOf(finding, "first_loss").has_value();
}

void SayOfDeath(const Finding& death, CauseVerdict* verdict) {
  verdict->sentence =
      "Most of the model died in its first steps: " + death.sentence;
  verdict->grade = EvidenceGrade::kSupported;
  verdict->actions.push_back(
      {"",
       "Begin anew with a lower learning rate, or one that warms up: the first "
       "updates of fresh weights were so large that activations are 0 whatever "
       "comes (dead ReLUs), and such units do not come back. A smaller "
       "initialisation or a normalisation helps, too."});
  if (death.subject.op.empty()) return;
  verdict->actions.push_back(
      {"", "If the rate is what it should be, look at " + death.subject.op +
               " and at what comes behind it: weights of 0, a factor of 0, a "
               "detach by mistake."});
}

// Rules on loss and gradients of which every finding came with it, or soon
// after: what a training does that has lost a layer. Empty where one was
// before.
RuleSet ConsequencesOfLayer(const Case& c, const Finding& layer) {
  constexpr int64_t kSoon = 100;  // steps
  RuleSet rules;
  for (const Finding& finding : c.findings) {
    const RuleId rule = finding.rule;
    if (rule != RuleId::kGnormSpike && rule != RuleId::kGnormExplosion &&
        !IsOfLoss(rule))
      continue;
    const int64_t after = finding.opened_step - layer.opened_step;
    if (after < 0 || after > kSoon) return {};
    rules.Add(rule);
  }
  return rules;
}

// Not all of a model is looked at at each step: the layer may be seen a little
// later than what it brings about.
bool CameWithTheLoss(const Case& c, const Finding& layer) {
  constexpr int64_t kSeen = 4;  // steps
  return std::none_of(c.findings.begin(), c.findings.end(),
                      [&](const Finding& finding) {
                        return IsOfLoss(finding.rule) &&
                               finding.opened_step + kSeen < layer.opened_step;
                      });
}

// Without a scaler and a format that needs one, zeros are no underflow.
bool MayUnderflow(const Case& c) {
  return IsScaled(c) || c.evidence.underflow_fraction.value_or(0) > 0;
}

void SayOfLayer(const Case& c, const Finding& layer, CauseVerdict* verdict) {
  verdict->sentence = "A layer gets no gradient any more: " + layer.sentence;
  if (verdict->grade == EvidenceGrade::kHypothesis) {
    verdict->grade = EvidenceGrade::kSupported;
  }
  for (const RuleId rule : ConsequencesOfLayer(c, layer)) {
    verdict->rules.Add(rule);
  }
  verdict->actions.push_back(
      {"", "Look at " + layer.subject.op +
               " and at what comes behind it: weights of 0, an activation that "
               "is 0 everywhere (dead ReLUs), a factor of 0, a detach by "
               "mistake" +
               (MayUnderflow(c) ? "; or its gradient underflows, which a "
                                  "higher scale mends."
                                : ".")});
  verdict->actions.push_back(
      {"",
       "Nothing, if it was meant: a head or a branch that was dropped, layers "
       "that were frozen. The note of it ends by itself after some hundred "
       "steps."});
}

// How a scale is given to each framework's scaler.
void AddActions(const Case& c, double better, CauseVerdict* verdict) {
  const std::string scale = InWords(better);
  const auto add = [&](std::string framework, std::string sentence) {
    verdict->actions.push_back({std::move(framework), std::move(sentence)});
  };
  const std::string now = c.evidence.scale_now
                              ? " (now " + InWords(*c.evidence.scale_now) + ")"
                              : std::string();
  add("", "Raise the loss scale to " + scale + now +
              ": the largest gradient stays a bit below the overflow.");
  add("pytorch", "GradScaler(init_scale=" + scale + ").");
  add("megatron", c.evidence.scaler_dynamic ? "--initial-loss-scale " + scale
                                            : "--loss-scale " + scale);
  verdict->actions.back().sentence += ".";
  add("deepspeed",
      fmt::format("fp16.loss_scale: 0 with initial_scale_power: {:.0f}.",
                  std::floor(std::log2(better))));
  add("ascend_tf", "FixedLossScaleManager(loss_scale=" + scale +
                       "), or init_loss_scale=" + scale +
                       " of ExponentialUpdateLossScaleManager.");
  add("mindspore", "FixedLossScaleManager(" + scale + ").");
}

}  // namespace

std::optional<CauseVerdict> Underflow(const Case& c) {
  const Found found = Look(c);
  if (found.measured == nullptr && found.predicted == nullptr) {
    return std::nullopt;
  }
  // A scale that fell too far, or none that suits, is the better cause.
  if (CollapseWithUnderflow(c)) return std::nullopt;
  for (const Finding& finding : c.findings) {
    if (finding.rule == kNoSingleScale) return std::nullopt;
  }
  // Nobody counted what underflows, or next to nothing does, and the zeros came
  // with a divergence.
  constexpr double kCounted = 0.01;  // rule 31's warning
  const bool little = c.evidence.underflow_fraction.value_or(0) < kCounted;
  const RuleSet after = AfterTheLoss(c);
  const bool died = found.measured != nullptr && DiedEarly(*found.measured);
  const bool layer = found.measured != nullptr && !died &&
                     IsOfALayer(*found.measured) &&
                     CameWithTheLoss(c, *found.measured);
  if (found.predicted == nullptr && little && !layer && !died &&
      std::find(after.begin(), after.end(), kMeasured) != after.end()) {
    return std::nullopt;
  }
  constexpr double kRoom = 4;  // bits; rule 32
  const bool room = found.headroom && *found.headroom > kRoom;
  const Finding& first =
      found.measured != nullptr ? *found.measured : *found.predicted;
  CauseVerdict verdict;
  verdict.cause = Cause::kUnderflow;
  verdict.rules = {RuleId::kGradRatio, RuleId::kGradVanishing, kMeasured,
                   kPredicted};
  verdict.origin = first.subject;
  verdict.step = first.opened_step;
  // Measured loss, and room above: nothing else need be looked for. A frozen
  // layer is only zeros, so without that room it is one of two.
  const bool counted = found.measured != nullptr &&
                       c.evidence.underflow_fraction.value_or(0) > 0;
  verdict.grade = counted && room   ? EvidenceGrade::kEstablished
                  : counted || room ? EvidenceGrade::kSupported
                                    : EvidenceGrade::kHypothesis;
  const std::string scale =
      c.evidence.scale_now ? InWords(*c.evidence.scale_now) : "not reported";
  const bool none = c.run.scaler.kind == ScalingKind::kNone;
  verdict.sentence =
      !MayUnderflow(c) ? "Gradients are 0: " + first.sentence
      : none ? "Gradients are lost to underflow and no loss is scaled: " +
                   first.sentence
             : "The loss scale (" + scale +
                   ") is too low for these gradients: " + first.sentence;
  if (room) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format(
             "There are {:.1f} bits of room above the largest gradient.",
             *found.headroom)});
  } else if (found.headroom) {
    verdict.evidence.push_back(
        {EvidenceGrade::kSupported,
         fmt::format("Only {:.1f} bits of room are left above the largest "
                     "gradient: a higher scale would overflow.",
                     *found.headroom)});
  }
  if (died) {
    SayOfDeath(first, &verdict);
  } else if (IsOfALayer(first)) {
    SayOfLayer(c, first, &verdict);
  }
  if (found.better && MayUnderflow(c)) AddActions(c, *found.better, &verdict);
  return verdict;
}

}  // namespace nanwatch
