// Underflow without a collapse: the loss scale is simply lower than it could
// be, or there is none, and small gradients are lost for it.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "diagnose/brought.h"
#include "diagnose/cause_form.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

struct Found {
  const Finding* measured = nullptr;
  const Finding* predicted = nullptr;
  std::optional<double> headroom;  // bits; the least that a finding gives
  std::optional<double> better;    // loss scale; the least of a finding

  explicit Found(const Facts& f) {
    for (const Finding& finding : f.found) {
      if (finding.rule == kUnderflowMeasured) {
        Take(finding, &measured);
      } else if (finding.rule == kUnderflowPredicted) {
        Take(finding, &predicted);
      }
    }
  }
  const Finding* first() const {
    return measured != nullptr ? measured : predicted;
  }

 private:
  static void Lower(std::optional<double> value, std::optional<double>* least) {
    if (value) *least = std::min(least->value_or(*value), *value);
  }
  void Take(const Finding& finding, const Finding** worst) {
    if (*worst == nullptr || finding.severity > (*worst)->severity) {
      *worst = &finding;
    }
    Lower(NumberOf(finding, "headroom"), &headroom);
    Lower(NumberOf(finding, "recommended_scale"), &better);
  }
};

// True when whole tensors became exactly 0 while neither the scale fell nor the
// learning rate rose: no numbers that are lost here and there, but a layer to
// which nothing leads back.
bool IsOfALayer(const Finding& finding) {
  return finding.rule == kUnderflowMeasured && !finding.subject.op.empty() &&
         NumberOf(finding, "zeroed_tensors").has_value();
}

// True when most of the model did, in its first steps: units whose activation
// is 0 whatever comes.
bool DiedEarly(const Finding& finding) {
  return finding.rule == kUnderflowMeasured &&
         NumberOf(finding, "first_loss").has_value();
}

// Returns what a training does that has lost a layer. Empty where something of
// it was before.
RuleSet ConsequencesOfLayer(const Facts& f, const Finding& layer) {
  const RuleSet found = (kNorm | kLossLevel) & f.found.rules();
  const RuleSet brought =
      BroughtBy(Trouble::kLayerGone, layer.opened_step, f.found);
  return (found - brought).empty() ? found : RuleSet();
}

bool HasRoom(const Facts& f, const Found& found) {
  return found.headroom && *found.headroom > f.at.headroom;
}

// False without a scaler and a format that needs one: zeros are no underflow
// then.
bool MayUnderflow(const Facts& f) {
  return f.scaled || f.evidence.underflow_fraction.value_or(0) > 0;
}

void SayOfDeath(const Finding& death, Match* match) {
  match->Say("Most of the model died in its first steps: " + death.sentence);
  match->Advise(
      "Begin anew with a lower learning rate, or one that warms up: the first "
      "updates of fresh weights were so large that activations are 0 whatever "
      "comes (dead ReLUs), and such units do not come back. A smaller "
      "initialisation or a normalisation helps, too.");
  if (death.subject.op.empty()) return;
  match->Advise("If the rate is what it should be, look at " +
                death.subject.op +
                " and at what comes behind it: weights of 0, a factor of 0, a "
                "detach by mistake.");
}

void SayOfLayer(const Facts& f, const Finding& layer, Match* match) {
  match->Say("A layer gets no gradient any more: " + layer.sentence);
  match->Advise(
      "Look at " + layer.subject.op +
      " and at what comes behind it: weights of 0, an activation that is 0 "
      "everywhere (dead ReLUs), a factor of 0, a detach by mistake" +
      (MayUnderflow(f)
           ? "; or its gradient underflows, which a higher scale mends."
           : "."));
  match->Advise(
      "Nothing, if it was meant: a head or a branch that was dropped, layers "
      "that were frozen. The note of it ends by itself after some hundred "
      "steps.");
}

std::string SentenceOf(const Facts& f, const Finding& first) {
  if (!MayUnderflow(f)) return "Gradients are 0: " + first.sentence;
  if (f.run.scaler.kind == ScalingKind::kNone) {
    return "Gradients are lost to underflow and no loss is scaled: " +
           first.sentence;
  }
  const std::string scale =
      f.evidence.scale_now ? InWords(*f.evidence.scale_now) : "not reported";
  return "The loss scale (" + scale +
         ") is too low for these gradients: " + first.sentence;
}

void SayOfRoom(const Facts& f, const Found& found, Match* match) {
  if (!found.headroom) return;
  if (HasRoom(f, found)) {
    match->Support(
        EvidenceGrade::kEstablished,
        fmt::format("There are {:.1f} bits of room above the largest gradient.",
                    *found.headroom));
  } else {
    match->Support(
        EvidenceGrade::kSupported,
        fmt::format("Only {:.1f} bits of room are left above the largest "
                    "gradient: a higher scale would overflow.",
                    *found.headroom));
  }
}

// Says how a scale is given to each framework's scaler.
void AdviseScale(const Facts& f, double better, Match* match) {
  const std::string scale = InWords(better);
  const std::string now = f.evidence.scale_now
                              ? " (now " + InWords(*f.evidence.scale_now) + ")"
                              : std::string();
  match->Advise("Raise the loss scale to " + scale + now +
                ": the largest gradient stays a bit below the overflow.");
  match->Advise("GradScaler(init_scale=" + scale + ").", "pytorch");
  match->Advise(
      (f.evidence.scaler_dynamic ? "--initial-loss-scale " : "--loss-scale ") +
          scale + ".",
      "megatron");
  match->Advise(
      fmt::format("fp16.loss_scale: 0 with initial_scale_power: {:.0f}.",
                  std::floor(std::log2(better))),
      "deepspeed");
  match->Advise("FixedLossScaleManager(loss_scale=" + scale +
                    "), or init_loss_scale=" + scale +
                    " of ExponentialUpdateLossScaleManager.",
                "ascend_tf");
  match->Advise("FixedLossScaleManager(" + scale + ").", "mindspore");
}

}  // namespace

bool WhenUnderflow(const Facts& f, const Matches&, Match* match) {
  if (!f.found.has(kUnderflowMeasured) && !f.found.has(kUnderflowPredicted)) {
    return false;
  }
  const Found found(f);
  const Finding& first = *found.first();
  // An explosion killed it.
  if (DiedEarly(first) && f.after_the_loss.has(first.rule)) return false;
  CauseVerdict& verdict = match->verdict;
  match->BeginAt(&first);
  // Measured loss, and room above: nothing else need be looked for. A frozen
  // layer is only zeros, so without that room it is one of two.
  const bool counted = found.measured != nullptr &&
                       f.evidence.underflow_fraction.value_or(0) > 0;
  const bool room = HasRoom(f, found);
  verdict.grade = counted && room   ? EvidenceGrade::kEstablished
                  : counted || room ? EvidenceGrade::kSupported
                                    : EvidenceGrade::kHypothesis;
  if (DiedEarly(first)) {
    verdict.grade = EvidenceGrade::kSupported;
  } else if (IsOfALayer(first)) {
    verdict.grade = std::max(verdict.grade, EvidenceGrade::kSupported);
    verdict.rules |= ConsequencesOfLayer(f, first);
  }
  return true;
}

void SayUnderflow(const Facts& f, Match* match) {
  const Found found(f);
  const Finding& first = *match->finding;
  match->Quote(first);
  match->Say(SentenceOf(f, first));
  SayOfRoom(f, found, match);
  if (DiedEarly(first)) {
    SayOfDeath(first, match);
  } else if (IsOfALayer(first)) {
    SayOfLayer(f, first, match);
  }
  if (found.better && MayUnderflow(f)) AdviseScale(f, *found.better, match);
}

}  // namespace nanwatch
