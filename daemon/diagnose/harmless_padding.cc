// Harmless padding or masked overflow: an op overflows in elements that nobody
// reads. The flagship is word2vec on Ascend: a Log over a buffer that
// FRACTAL_NZ pads with zeros.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// Findings on the op itself, and that the overflow does not depend on the
// scale.
constexpr RuleSet kOpRules = {RuleId::kOverflowNotScaleDependent,
                              RuleId::kOpOverflowOrigin,
                              RuleId::kOpOverflowPropagated,
                              RuleId::kPersistentOpOverflow,
                              RuleId::kOpSaturation,
                              RuleId::kOpInternalOverflow,
                              RuleId::kNearOverflow};
constexpr RuleId kLossNonfinite = RuleId::kLossNonfinite;
// What comes of it when each overflow skips an update.
constexpr RuleSet kScaleRules = {
    RuleId::kScaleAtFloor,         RuleId::kScaleBelowOne,
    RuleId::kScaleUnrepresentable, RuleId::kScaleCollapse,
    RuleId::kOverflowStreak,       RuleId::kOverflowRate,
    RuleId::kNeverCalibrated};

// Updates are skipped for this overflow: harmless to the values, not to the
// training.
bool SkipsUpdates(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (!c.run.scaler.overflow_check.value_or(true)) return false;
  return e.skipped_last_50 > 0;
}

struct Culprits {
  const OpEvidence* first = nullptr;  // the first harmless op
  PaddingJudgement judgement;         // of it
  std::vector<std::string> names;     // of all harmless ops
  bool others = false;                // an op that is not, and is bad now
};

Culprits FindCulprits(const Case& c) {
  Culprits found;
  for (const OpEvidence& op : c.evidence.ops) {
    if (!IsHarmless(c, op)) {
      found.others = found.others || IsBadNow(op, c.evidence);
      continue;
    }
    if (found.first == nullptr && !IsInput(op) && IsHarmlessPadding(c, op)) {
      found.first = &op;
      found.judgement = *JudgePadding(c, op);
    }
    if (std::find(found.names.begin(), found.names.end(), op.op.name) ==
        found.names.end()) {
      found.names.push_back(op.op.name);
    }
  }
  return found;
}

// Its real outputs, the loss and the gradients, as far as they are known.
std::string WhatIsFinite(const Case& c, const OpEvidence& op) {
  const RunEvidence& e = c.evidence;
  const bool outputs = op.logical_statuses > 0 || e.downstream_clean;
  const bool gradients = e.grad_norm_finite > 0 && e.grad_norm_nonfinite == 0;
  if (outputs && gradients) {
    return "its real outputs and the gradients are finite";
  }
  if (outputs) return "its real outputs are finite";
  return "the loss is finite";
}

// What hurts comes first: a person who is called for it reads no further.
std::string Lead(const RunEvidence& e) {
  if (e.skipped_last_50 == 0 || e.skipped_last_50 < e.attempts_last_50) {
    return "";
  }
  return fmt::format(
      "No update{} is applied any more, so nothing is learned: the last {} of "
      "{} were skipped for harmless padding. ",
      OfOptimizer(e), e.skipped_last_50, e.attempts_last_50);
}

std::string Sentence(const Case& c, const OpEvidence& op) {
  const std::string lead = SkipsUpdates(c) ? Lead(c.evidence) : "";
  std::string sentence =
      lead + fmt::format("{} overflows {}", InWords(op.op), WhenBad(op));
  if (BadAtEveryScale(op)) {
    sentence += ", so lowering the scale cannot help";
  }
  sentence += fmt::format(
      "; {}; its shape {} is stored as {}, {} elements of "
      "padding",
      WhatIsFinite(c, op), InWords(op.op.logical_shape),
      InWords(op.op.storage_shape), op.padding);
  if (lead.empty()) sentence += ": harmless padding";
  if (SkipsUpdates(c)) {
    if (lead.empty()) sentence += "; " + UpdatesInWords(c.evidence);
    sentence += "; use a fixed loss scale with the overflow check off";
  }
  return sentence + ".";
}

CauseVerdict Established(const Case& c, const Culprits& found) {
  const OpEvidence& op = *found.first;
  CauseVerdict verdict;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.ceiling = Severity::kInfo;
  verdict.sentence = Sentence(c, op);
  verdict.evidence = found.judgement.evidence;
  verdict.ops = found.names;
  verdict.rules = kOpRules;
  if (BadAtEveryAttempt(op)) {
    verdict.evidence.push_back({EvidenceGrade::kEstablished,
                                fmt::format("It was bad {}.", WhenBad(op))});
  }
  // Where another op is bad too, the overflow of a step may be its.
  if (!found.others) {
    verdict.rules |= kScaleRules;
    if (SkipsUpdates(c)) {
      verdict.uncapped = kScaleRules;
    }
  }
  return verdict;
}

// Infinities or NaN that never arrive anywhere: a mask, perhaps.
CauseVerdict Masked(const Case& c, const OpEvidence& op) {
  CauseVerdict verdict;
  verdict.grade = EvidenceGrade::kSupported;
  verdict.ceiling = Severity::kInfo;
  const char* const finite = c.evidence.loss_nonfinite > 0 ? "losses were long"
                             : c.evidence.downstream_clean
                                 ? "what follows it and the loss are"
                                 : "the loss is";
  const char* const bad = op.nan == 0   ? "infinite"
                          : op.inf == 0 ? "NaN"
                                        : "infinite or NaN";
  verdict.sentence = fmt::format(
      "{} has up to {} {} elements {}, but {} finite, and no update is lost by "
      "it: masked, it seems.",
      InWords(op.op), op.bad_elements_max, bad, WhenBad(op), finite);
  for (const OpEvidence& other : c.evidence.ops) {
    if (IsAbsorbed(c, other)) verdict.ops.push_back(other.op.name);
  }
  verdict.rules = kOpRules;
  return verdict;
}

// While the loss is not finite, and nobody knows which op began it, none is let
// off.
bool LetsOff(const Case& c) {
  const bool now =
      std::any_of(c.findings.begin(), c.findings.end(),
                  [](const Finding& f) { return f.rule == kLossNonfinite; });
  if (!now) return true;
  const std::optional<CauseVerdict> nan = NanFromForward(c);
  return !nan || !nan->ops.empty();
}

std::optional<CauseVerdict> NotEstablished(const Case& c,
                                           const OpEvidence& op) {
  if (IsAbsorbed(c, op)) {
    return LetsOff(c) ? std::optional(Masked(c, op)) : std::nullopt;
  }
  const auto judgement = JudgePadding(c, op);
  if (!judgement) return std::nullopt;
  CauseVerdict verdict;
  verdict.grade = judgement->grade;
  verdict.evidence = judgement->evidence;
  verdict.sentence = fmt::format(
      "{} overflows {}; its shape {} is stored as {}, so that this may be "
      "harmless padding, but its real region was not counted.",
      InWords(op.op), WhenBad(op), InWords(op.op.logical_shape),
      InWords(op.op.storage_shape));
  verdict.ops = {op.op.name};
  verdict.rules = kOpRules;
  return verdict;
}

}  // namespace

std::optional<CauseVerdict> HarmlessPadding(const Case& c) {
  const Culprits found = FindCulprits(c);
  std::optional<CauseVerdict> verdict;
  const OpEvidence* origin = found.first;
  if (origin != nullptr) {
    verdict = Established(c, found);
  } else {
    for (const OpEvidence& op : c.evidence.ops) {
      if (!IsBadNow(op, c.evidence) && !IsAbsorbed(c, op)) continue;
      verdict = NotEstablished(c, op);
      origin = &op;
      if (verdict) break;
    }
  }
  if (!verdict) return std::nullopt;
  verdict->cause = Cause::kHarmlessPadding;
  verdict->origin = OriginOf(*origin);
  verdict->step = origin->first_bad_step;
  return verdict;
}

}  // namespace nanwatch
