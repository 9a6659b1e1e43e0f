// NaN or infinity born in the forward pass, or brought in by the data or the
// weights. No loss scale can mend it.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// The first op with a NaN in the forward pass; or with an infinity, once the
// loss is not finite either.
const OpEvidence* Origin(const Case& c) {
  const bool loss_bad = c.evidence.loss_nonfinite > 0;
  for (const OpEvidence& op : c.evidence.ops) {
    if (!IsForward(op) || IsHarmless(c, op)) continue;
    if (op.nan > 0 || (loss_bad && op.inf > 0)) return &op;
  }
  return nullptr;
}

void SayWhereBorn(const OpEvidence& op, CauseVerdict* verdict) {
  const std::string what = op.nan > 0 ? fmt::format("{} NaN", op.nan)
                                      : fmt::format("{} infinities", op.inf);
  const std::string name = InWords(op.op);
  const char* kind = op.nan > 0 ? "NaN" : "Infinity";
  if (IsInput(op) && op.first_bad_order == 0) {
    verdict->grade = EvidenceGrade::kEstablished;
    verdict->sentence = fmt::format(
        "The data bring {} in: the input of {}, the first op, holds {} at "
        "step {}.",
        kind, name, what, op.first_bad_step);
  } else if (op.slot == Slot::kParameter) {
    verdict->grade = EvidenceGrade::kEstablished;
    verdict->sentence = fmt::format(
        "A weight of {} holds {} at step {}: an update before it "
        "wrote it.",
        name, what, op.first_bad_step);
  } else if (!IsInput(op) && op.first_inputs_clean) {
    verdict->grade = EvidenceGrade::kEstablished;
    verdict->sentence = fmt::format(
        "{} is born in {} at step {}: its inputs are finite, its "
        "output holds {}.",
        kind, name, op.first_bad_step, what);
  } else {
    verdict->grade = EvidenceGrade::kSupported;
    verdict->sentence = fmt::format(
        "The {} of {} holds {} at step {}, and no op before it was seen to be "
        "bad.",
        Name(op.slot), name, what, op.first_bad_step);
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

CauseVerdict FromOp(const Case& c, const OpEvidence& origin) {
  CauseVerdict verdict;
  SayWhereBorn(origin, &verdict);
  verdict.origin.op = origin.op.name;
  verdict.origin.slot = origin.slot;
  verdict.origin.rank = origin.rank;
  verdict.step = origin.first_bad_step;
  for (const OpEvidence& op : c.evidence.ops) {
    if (op.last_bad_step >= origin.first_bad_step && !IsHarmless(c, op)) {
      verdict.ops.push_back(op.op.name);
    }
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

constexpr int kExplosion = 28;

CauseVerdict FromLoss(const Case& c) {
  const RunEvidence& e = c.evidence;
  CauseVerdict verdict;
  verdict.origin.rank = e.nonfinite_loss_rank;
  verdict.step = e.first_nonfinite_loss_step;
  verdict.grade =
      e.ops_collected ? EvidenceGrade::kHypothesis : EvidenceGrade::kSupported;
  constexpr int kLossNonfinite = 15;
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
  for (const Finding& finding : c.findings) {
    if (finding.rule == kExplosion) {
      verdict.evidence.push_back(
          {EvidenceGrade::kEstablished, finding.sentence});
    }
  }
  if (goes_on) {
    verdict.actions.push_back(
        {"", fmt::format("Resume from the last checkpoint before step {}, "
                         "where an update was applied since: NaN spoils every "
                         "weight.",
                         e.first_nonfinite_loss_step)});
  }
  return verdict;
}

}  // namespace

std::optional<CauseVerdict> NanFromForward(const Case& c) {
  const OpEvidence* origin = Origin(c);
  if (origin == nullptr && c.evidence.loss_nonfinite == 0) return std::nullopt;
  CauseVerdict verdict = origin != nullptr ? FromOp(c, *origin) : FromLoss(c);
  verdict.cause = Cause::kNanFromForward;
  verdict.rules = {8, 15, 16, 17, 18, 19, 20, 21, 22, 28};
  // When it goes on, each step overflows and the scale falls for nothing.
  const RunEvidence& e = c.evidence;
  if (e.overflows_last_50 * 2 >= std::max<uint64_t>(e.attempts_last_50, 1) ||
      (origin != nullptr && BadAtEveryAttempt(*origin))) {
    // That it became 0 (rule 3) outlives the NaN, and is told by itself.
    verdict.rules.insert(verdict.rules.end(), {1, 2, 4, 5, 6, 7});
  }
  return verdict;
}

}  // namespace nanwatch
