// NaN or infinity born in the forward pass, or brought in by the data or the
// weights. No loss scale can mend it.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

#include "diagnose/causes.h"
#include "diagnose/consequences.h"
#include "diagnose/first_found.h"
#include "diagnose/nan_from_backward.h"
#include "diagnose/nan_rule.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

bool WasBadAt(const OpEvidence& op, int64_t step) {
  return op.first_bad_step <= step && step <= op.last_bad_step;
}

// Of two that were bad at the same step: `op` comes before `other` in it. False
// where the order is not known.
bool ComesBefore(const OpEvidence& op, const OpEvidence& other) {
  if (op.op.name == other.op.name) {
    return other.slot == Slot::kOutput && op.slot != Slot::kOutput;
  }
  return op.first_bad_order >= 0 && op.first_bad_order < other.first_bad_order;
}

bool Overflows(const Case& c, const OpEvidence& op) {
  const bool saturates = c.run.overflow_mode == OverflowMode::kSaturation;
  return op.inf > 0 || (saturates && op.saturated > 0);
}

// An overflow before the NaN, which became it: inf - inf, 0 * inf. One that had
// gone on for long without a NaN is trouble of its own.
bool Became(const OpEvidence& op, const OpEvidence& nan) {
  if (nan.first_inputs_clean && op.op.name != nan.op.name) return false;
  return WasBadAt(op, nan.first_bad_step) && ComesBefore(op, nan) &&
         nan.first_bad_step - op.first_bad_step <= kRecentSteps;
}

// The first op with a NaN in the forward pass; or with an infinity, once the
// loss is not finite either.
const OpEvidence* FirstNan(const Case& c) {
  const bool loss_bad = c.evidence.loss_nonfinite > 0;
  for (const OpEvidence& op : c.evidence.ops) {
    if (!IsForward(op) || IsHarmless(c, op)) continue;
    if (op.nan > 0 || (loss_bad && op.inf > 0)) return &op;
  }
  return nullptr;
}

// The first bad op on the way to `nan`.
const OpEvidence* Origin(const Case& c, const OpEvidence* nan) {
  if (nan == nullptr) return nullptr;
  for (const OpEvidence& op : c.evidence.ops) {
    if (&op != nan && IsForward(op) && Overflows(c, op) && Became(op, *nan) &&
        !IsHarmless(c, op)) {
      return &op;
    }
  }
  return nan;
}

// What the ops before a bad one were, as the end of a sentence.
std::string OpsBefore(const Case& c, const OpEvidence& bad) {
  bool others = false;
  for (const OpEvidence& op : c.evidence.ops) {
    if (op.op.name == bad.op.name || !IsForward(op) ||
        !WasBadAt(op, bad.first_bad_step)) {
      continue;
    }
    if (ComesBefore(op, bad)) {
      return fmt::format(", after {}, which was bad before it, since step {}",
                         InWords(op.op), op.first_bad_step);
    }
    others |= op.first_bad_order < 0 || bad.first_bad_order < 0;
  }
  return others ? ", and which op was bad first in that step is not known"
                : ", and no op before it was seen to be bad";
}

// The first, of those lately before `weight` was bad, whose update may have
// been applied; null: there is none.
const OpEvidence* GradientBefore(const Case& c, const OpEvidence& weight) {
  const OpEvidence* first = nullptr;
  for (const OpEvidence& op : c.evidence.ops) {
    if (IsGradient(op) && op.rank == weight.rank && op.nan + op.inf > 0 &&
        op.first_kept_step >= 0 && op.first_kept_step < weight.first_bad_step &&
        weight.first_bad_step - op.first_kept_step <= kRecentSteps &&
        (first == nullptr || op.first_kept_step < first->first_kept_step)) {
      first = &op;
    }
  }
  return first;
}

void SayWhereBorn(const Case& c, const OpEvidence& op, CauseVerdict* verdict) {
  const char* kind = op.nan > 0 ? "NaN" : op.inf > 0 ? "Infinity" : "Overflow";
  const std::string what =
      op.nan > 0   ? fmt::format("{} NaN", op.nan)
      : op.inf > 0 ? fmt::format("{} infinities", op.inf)
                   : fmt::format("{} saturated elements", op.saturated);
  const std::string name = InWords(op.op);
  if (IsInput(op) && op.first_bad_order == 0) {
    verdict->grade = EvidenceGrade::kEstablished;
    verdict->sentence = fmt::format(
        "The data bring {} in: the input of {}, the first op, holds {} at "
        "step {}.",
        kind, name, what, op.first_bad_step);
  } else if (op.slot == Slot::kParameter) {
    verdict->grade = EvidenceGrade::kEstablished;
    const RunEvidence& e = c.evidence;
    const bool after_loss =
        e.loss_nonfinite > 0 && e.first_nonfinite_loss_step < op.first_bad_step;
    const OpEvidence* gradient = GradientBefore(c, op);
    verdict->sentence = fmt::format(
        "A weight of {} holds {} at step {}, {}", name, what, op.first_bad_step,
        gradient != nullptr
            ? fmt::format("after an update whose gradients were not finite: "
                          "that of {} at step {}.",
                          gradient->op.name, gradient->first_kept_step)
        : after_loss ? "alone of all that were looked at after the loss was "
                       "not finite: an update, or its memory, wrote it."
                     : "and nothing was bad before it: the last update wrote "
                       "it, or the memory that it lies in.");
  } else if (!IsInput(op) && op.first_inputs_clean) {
    verdict->grade = EvidenceGrade::kEstablished;
    verdict->sentence = fmt::format(
        "{} is born in {} at step {}: its inputs are finite, its "
        "output holds {}.",
        kind, name, op.first_bad_step, what);
  } else {
    verdict->grade = EvidenceGrade::kSupported;
    verdict->sentence =
        fmt::format("The {} of {} holds {} at step {}{}.", Name(op.slot), name,
                    what, op.first_bad_step, OpsBefore(c, op));
  }
}

// " on rank 3 (node-3, npu3)"; nothing where there is one rank only.
std::string OnRank(const RunEvidence& e) {
  if (e.world_size <= 1 || e.nonfinite_loss_rank < 0) return "";
  std::string text = fmt::format(" on rank {}", e.nonfinite_loss_rank);
  if (!e.nonfinite_loss_place.empty()) {
    text += " (" + e.nonfinite_loss_place + ")";
  }
  return text;
}

CauseVerdict FromOp(const Case& c, const OpEvidence& origin,
                    const OpEvidence& nan) {
  CauseVerdict verdict;
  SayWhereBorn(c, origin, &verdict);
  verdict.origin = OriginOf(origin);
  verdict.step = origin.first_bad_step;
  ExplainBadSince(c, origin.first_bad_step, &verdict);
  if (origin.slot == Slot::kParameter) {
    verdict.actions.push_back(
        {"",
         "Resume from the last checkpoint in which that weight is finite; look "
         "at the update before (learning rate, optimizer state), and whether "
         "it happens on that device alone."});
  }
  if (origin.nan == 0 && nan.nan > 0) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("It became NaN in {} at step {}, whose {} holds {}.",
                     InWords(nan.op), nan.first_bad_step, Name(nan.slot),
                     nan.nan)});
  }
  if (c.evidence.loss_nonfinite > 0) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("The loss was not finite {}, first at step {}{}.",
                     CountOf(c.evidence.loss_nonfinite, "time"),
                     c.evidence.first_nonfinite_loss_step,
                     OnRank(c.evidence))});
  }
  if (origin.bad_attempts < origin.attempts) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("It was bad {}.", WhenBad(origin))});
  }
  return verdict;
}

constexpr RuleId kExplosion = RuleId::kGnormExplosion;
constexpr RuleId kLossNonfinite = RuleId::kLossNonfinite;
constexpr RuleId kUnrepresentable = RuleId::kScaleUnrepresentable;

// Clients tell gradients behind a loss that is not finite where some are and
// others are not: those lead to where it began.
void SayOfGradients(const Case& c, CauseVerdict* verdict) {
  constexpr size_t kFew = 8;
  constexpr size_t kNamed = 3;
  const RunEvidence& e = c.evidence;
  std::vector<std::string> names;
  for (const OpEvidence& op : e.ops) {
    if (!IsGradient(op) || op.nan + op.inf == 0 ||
        op.rank != e.nonfinite_loss_rank ||
        op.first_bad_step != e.first_nonfinite_loss_step) {
      continue;
    }
    if (std::find(names.begin(), names.end(), op.op.name) == names.end()) {
      names.push_back(op.op.name);
    }
  }
  if (names.empty() || names.size() > kFew) return;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kNamed) {
    text += fmt::format(" and {} more", names.size() - kNamed);
  }
  verdict->evidence.push_back(
      {EvidenceGrade::kSupported,
       fmt::format("Of the gradients that were told of that step only those of "
                   "{} are not finite: look on their way to the loss.",
                   text)});
}

CauseVerdict FromLoss(const Case& c) {
  const RunEvidence& e = c.evidence;
  CauseVerdict verdict;
  verdict.origin.rank = e.nonfinite_loss_rank;
  verdict.step = e.first_nonfinite_loss_step;
  verdict.grade =
      e.ops_collected ? EvidenceGrade::kHypothesis : EvidenceGrade::kSupported;
  const bool goes_on =
      std::any_of(c.findings.begin(), c.findings.end(),
                  [](const Finding& f) { return f.rule == kLossNonfinite; });
  const std::string since =
      goes_on ? fmt::format("is not finite since step {}{}",
                            e.first_nonfinite_loss_step, OnRank(e))
      : e.loss_nonfinite == 1
          ? fmt::format("was not finite once, at step {}{}",
                        e.first_nonfinite_loss_step, OnRank(e))
          : fmt::format("was not finite {} times from step {}{} to {}",
                        e.loss_nonfinite, e.first_nonfinite_loss_step,
                        OnRank(e), e.last_nonfinite_loss_step);
  verdict.sentence = fmt::format(
      "The loss {}, which a loss scale cannot cause: it comes from the forward "
      "pass, the data or the weights.",
      since);
  if (e.ops_collected) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("Which op it was is not known: no status of a bad op of "
                     "the forward pass was "
                     "collected at step {}.",
                     e.first_nonfinite_loss_step)});
  }
  const auto term = c.run.settings.find("nonfinite_loss");
  if (term != c.run.settings.end() && !term->second.empty()) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("Of its terms {} was not finite first, while others were: "
                     "look there.",
                     term->second)});
  }
  SayOfGradients(c, &verdict);
  for (const Finding& finding : c.findings) {
    if (finding.rule == kExplosion) {
      verdict.evidence.push_back(
          {EvidenceGrade::kEstablished, finding.sentence});
    }
  }
  if (goes_on) {
    verdict.actions.push_back(
        {"", fmt::format("Resume from the last checkpoint before step {}, "
                         "if an update was applied since: NaN spoils every "
                         "weight.",
                         e.first_nonfinite_loss_step)});
  }
  return verdict;
}

// Weights that are not finite only after a loss that was not: its update wrote
// that into all that it reached, and none of them tells which was first. None
// is 0; of one alone its name is news.
int SpoiltWeights(const Case& c, const OpEvidence& origin) {
  const RunEvidence& e = c.evidence;
  if (e.loss_nonfinite == 0 ||
      origin.first_bad_step <= e.first_nonfinite_loss_step) {
    return 0;
  }
  const auto spoilt =
      std::count_if(e.ops.begin(), e.ops.end(), [&](const OpEvidence& op) {
        return op.slot == Slot::kParameter && op.nan + op.inf > 0 &&
               op.first_bad_step > e.first_nonfinite_loss_step;
      });
  return spoilt > 1 ? static_cast<int>(spoilt) : 0;
}

CauseVerdict FromLossThatSpoilt(const Case& c, int weights) {
  CauseVerdict verdict = FromLoss(c);
  verdict.grade = EvidenceGrade::kEstablished;
  ExplainBadSince(c, c.evidence.first_nonfinite_loss_step, &verdict);
  verdict.evidence.push_back(
      {EvidenceGrade::kEstablished,
       fmt::format(
           "After it {} weights were not finite: its update was applied "
           "and wrote that into them, so none of them tells where it "
           "began.",
           weights)});
  return verdict;
}

// The losses are not finite, one after another; null where they are.
const Finding* LastingNan(const Case& c) {
  const Finding* loss = FirstOfRule(c.findings, kLossNonfinite);
  return loss != nullptr && NumberOf(*loss, "streak").value_or(0) >= 2
             ? loss
             : nullptr;
}

// Of every finding of the rule.
bool CameWithOrAfter(const Case& c, RuleId rule, const Finding& loss) {
  constexpr int64_t kSame = 20;  // steps: a log tells one in ten or twenty
  const Finding* first = FirstOfRule(c.findings, rule);
  return first == nullptr || first->opened_step + kSame >= loss.opened_step;
}

// The overflows that the NaN makes are found no later than it: they, and that
// the scale falls to nothing, are its doing. So is that where it was nothing
// when both were seen first, or fell to it while the NaN went on. Else it is
// told by itself, since it outlives the NaN.
bool TookTheScale(const Case& c, const Finding* lasting) {
  const Finding* loss = FirstOfRule(c.findings, kLossNonfinite);
  const Finding* scale = FirstOfRule(c.findings, kUnrepresentable);
  if (loss == nullptr || scale == nullptr) return false;
  if (scale->opened_step == loss->opened_step) return true;
  if (lasting != nullptr &&
      NumberOf(*scale, "last_usable_scale").value_or(0) > 0 &&
      scale->opened_step > loss->opened_step) {
    return true;
  }
  return std::any_of(
      c.findings.begin(), c.findings.end(), [&](const Finding& finding) {
        const bool overflows = finding.rule == RuleId::kScaleCollapse ||
                               finding.rule == RuleId::kOverflowStreak ||
                               finding.rule == RuleId::kOverflowRate ||
                               finding.rule == RuleId::kNeverCalibrated;
        return overflows && finding.opened_step <= loss->opened_step;
      });
}

// A scale that fell to nothing outlives the NaN.
void SayOfScale(const Case& c, CauseVerdict* verdict) {
  for (const Finding& finding : c.findings) {
    if (finding.rule != kUnrepresentable) continue;
    verdict->evidence.push_back(
        {EvidenceGrade::kSupported, "A consequence: " + finding.sentence});
    verdict->actions.push_back(
        {"",
         "Begin with a fresh scaler then: its scale fell to nothing "
         "meanwhile."});
    return;
  }
}

// When it goes on, each step overflows and the scale falls for nothing.
void ExplainTheScale(const Case& c, bool always, CauseVerdict* verdict) {
  const RunEvidence& e = c.evidence;
  always |=
      e.overflows_last_50 * 2 >= std::max<uint64_t>(e.attempts_last_50, 1);
  const Finding* lasting = LastingNan(c);
  if (!always && lasting == nullptr) return;
  for (const RuleId rule : {RuleId::kScaleAtFloor, RuleId::kScaleBelowOne,
                            RuleId::kScaleCollapse, RuleId::kOverflowStreak,
                            RuleId::kOverflowRate, RuleId::kNeverCalibrated}) {
    if (always || CameWithOrAfter(c, rule, *lasting)) {
      verdict->rules.Add(rule);
    }
  }
  if (TookTheScale(c, lasting)) verdict->rules.Add(kUnrepresentable);
  SayOfScale(c, verdict);
}

}  // namespace

std::optional<CauseVerdict> NanFromForward(const Case& c) {
  // What has grown out of the range was not born anywhere, and what is born in
  // the backward pass is told as that.
  if (GrownLoss(c) != nullptr || FindBackwardNan(c)) return std::nullopt;
  const OpEvidence* nan = FirstNan(c);
  const OpEvidence* origin = Origin(c, nan);
  if (origin == nullptr && c.evidence.loss_nonfinite == 0) return std::nullopt;
  const int spoilt = origin != nullptr ? SpoiltWeights(c, *origin) : 0;
  CauseVerdict verdict = spoilt > 0          ? FromLossThatSpoilt(c, spoilt)
                         : origin != nullptr ? FromOp(c, *origin, *nan)
                                             : FromLoss(c);
  verdict.cause = Cause::kNanFromForward;
  verdict.rules = {
      RuleId::kOverflowNotScaleDependent, RuleId::kLossNonfinite,
      RuleId::kWeightNonfinite,           RuleId::kOptimizerStateNonfinite,
      RuleId::kOpOverflowOrigin,          RuleId::kOpOverflowPropagated,
      RuleId::kPersistentOpOverflow,      RuleId::kOpSaturation,
      RuleId::kOpInternalOverflow,        RuleId::kGnormExplosion,
      RuleId::kWeightOutOfRange};
  // Of the named ops; values near the limit elsewhere are no news of the NaN.
  if (!verdict.ops.empty()) verdict.rules.Add(RuleId::kNearOverflow);
  ExplainTheScale(c, origin != nullptr && BadAtEveryAttempt(*origin), &verdict);
  verdict.rule = RuleOfNan(c, verdict);
  return verdict;
}

}  // namespace nanwatch
