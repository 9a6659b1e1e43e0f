#include "diagnose/padding.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/facts.h"
#include "diagnose/op_facts.h"
#include "diagnose/scale_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

bool Saturates(const RunDescription& run) {
  return run.overflow_mode == OverflowMode::kSaturation;
}

bool LossWentBad(const RunEvidence& e, const OpEvidence& op) {
  return e.loss_nonfinite > 0 &&
         e.first_nonfinite_loss_step >= op.first_bad_step;
}

// True when results were finite although the op was bad. It says nothing in
// saturation mode.
bool ResultsFinite(const RunEvidence& e) {
  return e.loss_finite_while_overflow + e.loss_finite > 0 &&
         e.loss_nonfinite == 0 && e.grad_norm_nonfinite == 0;
}

// Returns what became of updates where the records at which the op was bad do
// not say: as the rank fares that fares worst, since its search for a scale.
OpOutcomes PresumedOutcomes(const RunEvidence& e, const OpEvidence& op) {
  const uint64_t told = std::max(e.overflows, e.skipped);
  const auto start = static_cast<uint64_t>(StartUpOverflows(e));
  return {op.bad_updates,
          told == 0 ? e.grad_norm_nonfinite : told - std::min(told, start)};
}

// True when it has no part in the few updates that were lost or spoilt. A rank
// of its own may have another op of that name, or other data: one that had
// several is looked at alone. So are its newest, since what went well for long
// may do so no more; but a scale may have to halve some sixteen times in a row
// there.
bool DoesNoHarm(const RunEvidence& e, const OpEvidence& op) {
  constexpr uint64_t kOfNewest = 2;  // fine ones a harmed one; ours
  // Gradients of what is only masked in the end are NaN, mostly.
  const uint64_t times = op.nan > 0 ? 8 : 2;
  if (op.outcomes.fine + op.outcomes.harmed == 0) {
    return PresumedOutcomes(e, op).AreFine(times);
  }
  const auto are_fine = [](const OpOutcomes& of_one, uint64_t more) {
    return of_one.harmed == 0 || of_one.AreFine(more);
  };
  return op.outcomes.AreFine(times) && are_fine(op.outcomes_of_worst, times) &&
         are_fine(op.newest_of_worst, kOfNewest);
}

Evidence Established(std::string sentence) {
  return {EvidenceGrade::kEstablished, std::move(sentence)};
}
Evidence Supported(std::string sentence) {
  return {EvidenceGrade::kSupported, std::move(sentence)};
}

Evidence ShapeEvidence(const OpEvidence& op) {
  return Established(fmt::format(
      "Its shape {} is stored as {}: {} elements are padding.",
      InWords(op.op.logical_shape), InWords(op.op.storage_shape), op.padding));
}

// False while the loss is not finite and nobody knows which op began it: no op
// is let off.
bool LetsOff(const Facts& f) {
  return !f.found.has(RuleId::kLossNonfinite) || !f.forward ||
         f.forward->names_an_op();
}

// Takes the op for masked, or for possible padding. False: it is neither.
bool IsPossible(const Facts& f, const OpEvidence& op, PaddingFacts* found) {
  if (IsAbsorbed(f, op)) {
    if (!LetsOff(f)) return false;
    found->kind = PaddingFacts::Kind::kMasked;
    return true;
  }
  auto judgement = JudgePadding(f, op);
  if (!judgement) return false;
  found->kind = PaddingFacts::Kind::kPossible;
  found->judgement = *std::move(judgement);
  return true;
}

}  // namespace

std::optional<PaddingJudgement> JudgePadding(const Case& c,
                                             const OpEvidence& op) {
  const RunEvidence& e = c.evidence;
  if (op.padding == 0 || op.logical_bad > 0) return std::nullopt;
  if (op.bad_elements_max > op.padding) return std::nullopt;
  PaddingJudgement judgement;
  judgement.evidence.push_back(ShapeEvidence(op));
  const bool region_clean = op.logical_statuses > 0;
  if (region_clean) {
    judgement.evidence.push_back(Established(fmt::format(
        "Its elements without the padding were counted {} times, and none of "
        "them was ever bad.",
        op.logical_statuses)));
  }
  const bool count_fits = op.bad_elements_max > 0;
  if (count_fits) {
    judgement.evidence.push_back(Supported(
        fmt::format("At most {} of its elements were bad at once, and "
                    "{} are padding.",
                    op.bad_elements_max, op.padding)));
  }
  const bool finite = ResultsFinite(e) && !Saturates(c.run);
  const bool after_clean = e.downstream_clean || finite;
  if (e.downstream_clean) {
    judgement.evidence.push_back(Supported(
        "The other ops of the forward pass were counted and are clean."));
  }
  if (LossWentBad(e, op)) {
    judgement.grade = EvidenceGrade::kHypothesis;
    judgement.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("Against it: the loss is not finite since step {}.",
                     e.first_nonfinite_loss_step)});
  } else if (region_clean || (count_fits && after_clean)) {
    judgement.grade = EvidenceGrade::kEstablished;
  } else if (after_clean || BadAtEveryScale(op, c.at.scales_apart)) {
    judgement.grade = EvidenceGrade::kSupported;
  }
  return judgement;
}

bool IsHarmlessPadding(const Case& c, const OpEvidence& op) {
  const auto established = [&](const OpEvidence& other) {
    const auto judgement = JudgePadding(c, other);
    return judgement && judgement->grade == EvidenceGrade::kEstablished;
  };
  if (established(op)) return true;
  if (!IsInput(op)) return false;
  const std::vector<OpEvidence>& ops = c.evidence.ops;
  const bool passed_on =
      std::any_of(ops.begin(), ops.end(), [&](const OpEvidence& other) {
        return other.op.name == op.op.name && !IsInput(other) &&
               !established(other);
      });
  if (passed_on) return false;
  return std::any_of(ops.begin(), ops.end(), [&](const OpEvidence& other) {
    return !IsInput(other) && other.first_bad_step <= op.first_bad_step &&
           other.bad_elements_max >= op.bad_elements_max && established(other);
  });
}

bool IsAbsorbed(const Case& c, const OpEvidence& op) {
  constexpr uint64_t kOften = 6;  // updates; as BadAtEveryUpdate()
  const RunEvidence& e = c.evidence;
  const bool activation = op.slot == Slot::kInput || op.slot == Slot::kOutput;
  if (!activation || Saturates(c.run) || op.nan + op.inf == 0 ||
      op.flag_only > 0 || e.loss_finite == 0) {
    return false;
  }
  const bool told = op.outcomes.fine + op.outcomes.harmed > 0;
  const uint64_t fine_steps = told ? op.fine_steps : op.bad_updates;
  if (fine_steps < kOften && op.first_bad_step > 1) return false;
  // What went well for long is not what spoils the loss in the end, and what
  // goes on long after is not what spoilt it.
  if (e.loss_nonfinite > 0) {
    const bool since =
        e.first_nonfinite_loss_step - op.first_bad_step > kRecentSteps;
    const bool outlasts =
        op.last_bad_step - e.last_nonfinite_loss_step > kRecentSteps;
    if (fine_steps < kOften || !(since || outlasts)) return false;
  }
  return DoesNoHarm(e, op);
}

PaddingFacts FindPadding(const Facts& f) {
  PaddingFacts found;
  for (const OpEvidence& op : f.evidence.ops) {
    if (!f.IsHarmless(op)) {
      found.others = found.others || IsBadNow(op, f.evidence);
      continue;
    }
    if (found.op == nullptr && !IsInput(op) && IsHarmlessPadding(f, op)) {
      found.kind = PaddingFacts::Kind::kEstablished;
      found.op = &op;
      found.judgement = *JudgePadding(f, op);
    }
    if (std::find(found.names.begin(), found.names.end(), op.op.name) ==
        found.names.end()) {
      found.names.push_back(op.op.name);
    }
  }
  if (found.op != nullptr) return found;
  for (const OpEvidence& op : f.evidence.ops) {
    if (!IsBadNow(op, f.evidence) && !IsAbsorbed(f, op)) continue;
    if (!IsPossible(f, op, &found)) continue;
    found.op = &op;
    break;
  }
  return found;
}

bool IsHarmless(const Case& c, const OpEvidence& op) {
  return IsAbsorbed(c, op) || IsHarmlessPadding(c, op);
}

}  // namespace nanwatch
