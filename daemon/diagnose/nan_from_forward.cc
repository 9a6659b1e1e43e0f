// NaN or infinity born in the forward pass, or brought in by the data or the
// weights. No loss scale can mend it.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/brought.h"
#include "diagnose/cause_form.h"
#include "diagnose/consequences.h"
#include "diagnose/nan_loss.h"
#include "diagnose/op_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

// ------------------------------------------------------------------ decides

// True when it goes on, so that each step overflows and the scale falls for
// nothing.
bool IsAlways(const Facts& f, const OpEvidence* origin) {
  const RunEvidence& e = f.evidence;
  return (origin != nullptr && BadAtEveryUpdate(*origin)) ||
         e.overflows_last_50 * 2 >= std::max<uint64_t>(e.updates_last_50, 1);
}

// True when the overflows that the NaN makes are found no later than it: they,
// and that the scale falls to nothing, are its doing. So is that where it was
// nothing when both were seen first, or fell to it while the NaN went on. Else
// it has a cause of its own, since it outlives the NaN.
bool TookTheScale(const Facts& f) {
  const Finding* loss = f.found.First(kLossNonfinite);
  const Finding* scale = f.found.First(kScaleUnrepresentable);
  if (loss == nullptr || scale == nullptr) return false;
  if (scale->opened_step == loss->opened_step) return true;
  if (f.lasting_nan != nullptr &&
      NumberOf(*scale, "last_usable_scale").value_or(0) > 0 &&
      scale->opened_step > loss->opened_step) {
    return true;
  }
  const Finding* overflows = f.found.First(
      {kScaleCollapse, kOverflowStreak, kOverflowRate, kNeverCalibrated});
  return overflows != nullptr && overflows->opened_step <= loss->opened_step;
}

// Returns the rules on the scale that the NaN has its part in.
RuleSet RulesOnScale(const Facts& f, bool always) {
  static constexpr RuleSet kAnswers = {kScaleAtFloor,  kScaleBelowOne,
                                       kScaleCollapse, kOverflowStreak,
                                       kOverflowRate,  kNeverCalibrated};
  RuleSet rules = always ? kAnswers
                         : BroughtBy(Trouble::kLossNan,
                                     f.lasting_nan->opened_step, f.found);
  if (TookTheScale(f)) rules.Add(kScaleUnrepresentable);
  return rules;
}

bool Finish(const Facts& f, Match* match) {
  CauseVerdict& verdict = match->verdict;
  // Of the named ops; values near the limit elsewhere are no news of the NaN.
  if (!verdict.ops.empty()) verdict.rules.Add(kNearOverflow);
  const bool always = IsAlways(f, match->op);
  if (always || f.lasting_nan != nullptr) {
    verdict.rules |= RulesOnScale(f, always);
  }
  verdict.rule = RuleOfNan(f, verdict);
  return true;
}

void BeginAtTheLoss(const RunEvidence& e, CauseVerdict* verdict) {
  verdict->origin.rank = e.nonfinite_loss_rank;
  verdict->step = e.first_nonfinite_loss_step;
}

// True for the data, a weight, or an op that made it of finite inputs.
bool IsProven(const OpEvidence& op) {
  return IsInput(op) ? IsData(op)
                     : op.slot == Slot::kParameter || op.first_inputs_clean;
}

// Returns the step of the loss that was not finite shortly before `origin` was
// seen to be bad: clients look at some ops at a step, and look closer then.
std::optional<int64_t> LossBefore(const RunEvidence& e,
                                  const OpEvidence& origin) {
  const int64_t step = e.first_nonfinite_loss_step;
  const int64_t ahead = origin.first_bad_step - step;
  const bool before = step >= 0 && ahead > 0 && ahead <= kRecentSteps;
  if (!before || origin.slot == Slot::kParameter ||
      origin.rank != e.nonfinite_loss_rank) {
    return std::nullopt;
  }
  return step;
}

// --------------------------------------------------------------------- says

// Returns what the ops before a bad one were, as the end of a sentence.
std::string OpsBefore(const RunEvidence& e, const OpEvidence& bad) {
  bool others = false;
  for (const OpEvidence& op : e.ops) {
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

// Returns the first, of those lately before `weight` was bad, whose update may
// have been applied; null: there is none.
const OpEvidence* GradientBefore(const RunEvidence& e,
                                 const OpEvidence& weight) {
  const OpEvidence* first = nullptr;
  for (const OpEvidence& op : e.ops) {
    if (IsGradient(op) && op.rank == weight.rank && op.nan + op.inf > 0 &&
        op.first_kept_step >= 0 && op.first_kept_step < weight.first_bad_step &&
        weight.first_bad_step - op.first_kept_step <= kRecentSteps &&
        (first == nullptr || op.first_kept_step < first->first_kept_step)) {
      first = &op;
    }
  }
  return first;
}

std::string OfWeight(const RunEvidence& e, const OpEvidence& op,
                     const std::string& what) {
  const bool after_loss =
      e.loss_nonfinite > 0 && e.first_nonfinite_loss_step < op.first_bad_step;
  const OpEvidence* gradient = GradientBefore(e, op);
  return fmt::format(
      "A weight of {} holds {} at step {}, {}", InWords(op.op), what,
      op.first_bad_step,
      gradient != nullptr
          ? fmt::format("after an update whose gradients were not finite: that "
                        "of {} at step {}.",
                        gradient->op.name, gradient->first_kept_step)
      : after_loss ? "alone of all that were looked at after the loss was not "
                     "finite: an update, or its memory, wrote it."
                   : "and nothing was bad before it: the last update wrote it, "
                     "or the memory that it lies in.");
}

std::string WhereBorn(const RunEvidence& e, const OpEvidence& op) {
  const char* kind = op.nan > 0 ? "NaN" : op.inf > 0 ? "Infinity" : "Overflow";
  const std::string what =
      op.nan > 0   ? fmt::format("{} NaN", op.nan)
      : op.inf > 0 ? fmt::format("{} infinities", op.inf)
                   : fmt::format("{} saturated elements", op.saturated);
  const std::string name = InWords(op.op);
  if (IsData(op)) {
    const bool one = e.world_size <= 1 || op.rank < 0;
    return fmt::format(
        "The data bring in {}{}: the input of {}, the first op, holds {} at "
        "step {}.",
        kind, one ? "" : fmt::format(", on rank {} first", op.rank), name, what,
        op.first_bad_step);
  }
  if (op.slot == Slot::kParameter) return OfWeight(e, op, what);
  if (!IsInput(op) && op.first_inputs_clean) {
    return fmt::format(
        "{} is born in {} at step {}. Its inputs are finite, its output holds "
        "{}.",
        kind, name, op.first_bad_step, what);
  }
  return fmt::format("The {} of {} holds {} at step {}{}.", Name(op.slot), name,
                     what, op.first_bad_step, OpsBefore(e, op));
}

// Says that a scale fell to nothing, which outlives the NaN.
void SayOfScale(const Facts& f, Match* match) {
  if (!IsAlways(f, match->op) && f.lasting_nan == nullptr) return;
  for (const Finding& finding : f.found) {
    if (finding.rule != kScaleUnrepresentable) continue;
    match->Support(EvidenceGrade::kSupported,
                   "A consequence: " + finding.sentence);
    match->Advise(
        "Begin with a fresh scaler: its scale fell to nothing meanwhile.");
    return;
  }
}

// Says which gradients lead to where it began: clients send those behind a loss
// that is not finite where some are finite and others are not.
void SayOfGradients(const RunEvidence& e, Match* match) {
  constexpr size_t kFew = 8;    // gradients; ours
  constexpr size_t kNamed = 3;  // gradients in a sentence; ours
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
  match->Support(
      EvidenceGrade::kSupported,
      fmt::format("Of the gradients reported at that step only those of {} are "
                  "not finite: look on their way to the loss.",
                  text));
}

void SayOfLoss(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  match->Say(SentenceOfLoss(f));
  if (e.ops_collected) {
    match->Support(EvidenceGrade::kEstablished,
                   fmt::format("The op is not known: no op of the forward pass "
                               "was reported bad at step {}.",
                               e.first_nonfinite_loss_step));
  }
  // As PyTorch's watch says.
  const auto level = f.run.settings.find("watch_level");
  if (level != f.run.settings.end()) {
    match->Advise(fmt::format(
        "{} (arguments of nanwatch.torch.watch, or of a trainer's callback). "
        "Then every module is looked at, and the verdict names the one in "
        "which the NaN begins. If it names none, what the program itself "
        "computes of the model's output makes it: a log or root of 0, a "
        "division by 0.",
        level->second == "ops"
            ? "Level \"ops\" looked at some modules at each step, within its "
              "budget. Run it again with budget=1e9"
            : "Run it again with level=\"ops\", budget=1e9"));
  }
  if (PrintsZeroForNan(f.run)) {
    match->Advise(
        "Log again with logging_nan_inf_filter=False: it is known then.");
    if (const Finding* loss = f.found.First(kLossNonfinite)) {
      match->Quote(*loss, InSummary::kAll);
    }
  } else if (const std::string term = OtherTerm(f); !term.empty()) {
    match->Support(
        EvidenceGrade::kEstablished,
        fmt::format(
            "Of its terms, {} was the first that was not finite: look there.",
            term));
  }
  SayOfGradients(e, match);
  // Each rank may have found it.
  if (const Finding* norm = f.found.First(kGnormExplosion)) {
    match->Support(EvidenceGrade::kEstablished, norm->sentence);
  }
}

}  // namespace

bool WhenWeightsSpoilt(const Facts& f, const Matches&, Match* match) {
  if (!f.forward || f.forward->spoilt == 0) return false;
  match->op = f.forward->origin;
  match->verdict.grade = EvidenceGrade::kEstablished;
  BeginAtTheLoss(f.evidence, &match->verdict);
  ExplainBadSince(f, f.evidence.first_nonfinite_loss_step, &match->verdict);
  return Finish(f, match);
}

void SayWeightsSpoilt(const Facts& f, Match* match) {
  SayOfLoss(f, match);
  match->Support(
      EvidenceGrade::kEstablished,
      fmt::format("After it {} weights were not finite: its update was applied "
                  "and wrote NaN into them. None of them tells where it began.",
                  f.forward->spoilt));
  SayOfScale(f, match);
}

bool WhenNanFromOp(const Facts& f, const Matches&, Match* match) {
  if (!f.forward || f.forward->origin == nullptr) return false;
  const OpEvidence& origin = *f.forward->origin;
  match->op = &origin;
  match->other = f.forward->nan;
  match->verdict.grade = IsProven(origin) ? EvidenceGrade::kEstablished
                                          : EvidenceGrade::kSupported;
  match->verdict.origin = OriginOf(origin);
  const int64_t since =
      LossBefore(f.evidence, origin).value_or(origin.first_bad_step);
  match->verdict.step = since;
  ExplainBadSince(f, since, &match->verdict);
  return Finish(f, match);
}

void SayNanFromOp(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  const OpEvidence& origin = *match->op;
  const OpEvidence& nan = *match->other;
  const auto before = LossBefore(e, origin);
  match->Say(WhereBorn(e, origin) +
             (before ? fmt::format(" The loss was not finite at step {} first, "
                                   "at which no op was seen to be bad.",
                                   *before)
                     : ""));
  if (origin.slot == Slot::kParameter) {
    match->Advise(
        "{Back}; look at the update that wrote it (learning rate, optimizer "
        "state), and whether it happens on that device alone.");
  }
  if (origin.nan == 0 && nan.nan > 0) {
    match->Support(
        EvidenceGrade::kEstablished,
        fmt::format("It became NaN in {} at step {}, whose {} holds {}.",
                    InWords(nan.op), nan.first_bad_step, Name(nan.slot),
                    nan.nan));
  }
  if (e.loss_nonfinite > 0) {
    match->Support(
        EvidenceGrade::kEstablished,
        fmt::format("The loss was not finite {}, first at step {}{}.",
                    CountOf(e.loss_nonfinite, "time"),
                    e.first_nonfinite_loss_step, OnRank(e)));
  }
  if (origin.bad_updates < origin.updates) {
    match->Support(EvidenceGrade::kEstablished,
                   fmt::format("It was seen bad {}.", WhenBad(origin)));
  }
  SayOfScale(f, match);
}

bool WhenNanFromLoss(const Facts& f, const Matches&, Match* match) {
  if (!f.forward) return false;
  const bool unsure = f.evidence.ops_collected || PrintsZeroForNan(f.run);
  match->verdict.grade =
      unsure ? EvidenceGrade::kHypothesis : EvidenceGrade::kSupported;
  BeginAtTheLoss(f.evidence, &match->verdict);
  if (const Finding* streak = StreakBefore(f)) {
    match->verdict.step = streak->opened_step;
  }
  return Finish(f, match);
}

void SayNanFromLoss(const Facts& f, Match* match) {
  SayOfLoss(f, match);
  SayOfScale(f, match);
}

}  // namespace nanwatch
