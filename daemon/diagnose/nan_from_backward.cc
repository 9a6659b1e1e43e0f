// NaN born in the backward pass: the loss is finite, and no loss scale is to
// blame, since none is used.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/cause_form.h"
#include "diagnose/op_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

const char* KindOf(const OpEvidence& op) {
  return HoldsNan(op) ? "NaN" : "Inf";
}

std::string NamesOf(const BackwardNan& nan) {
  constexpr size_t kNamed = 3;  // gradients in a sentence; ours
  std::string text;
  const size_t all = nan.gradients.size();
  for (size_t i = 0; i < std::min(all, kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + nan.gradients[i]->op.name;
  }
  if (all > kNamed) text += fmt::format(" and {} more", all - kNamed);
  return text;
}

// True when each has its place in the order of execution, in which evidence is
// sorted.
bool IsOrderKnown(const BackwardNan& nan) {
  return nan.gradients.size() > 1 &&
         std::all_of(
             nan.gradients.begin(), nan.gradients.end(),
             [](const OpEvidence* op) { return op->first_bad_order >= 0; });
}

std::string Where(const BackwardNan& nan) {
  if (nan.gradients.empty()) {
    return "its gradient norm is not";
  }
  const OpEvidence& first = *nan.gradients[0];
  if (MadeIt(first, nan.step)) {
    return fmt::format(
        "the gradient that reaches {} is finite too, the one that leaves it is "
        "not",
        InWords(first.op));
  }
  return fmt::format(
      "of the reported gradients {} not{}",
      nan.gradients.size() == 1 ? "that of " + NamesOf(nan) + " is"
                                : "those of " + NamesOf(nan) + " are",
      IsOrderKnown(nan) ? fmt::format(". Of these, {} comes last in the model, "
                                      "where the backward pass begins",
                                      first.op.name)
                        : "");
}

// Returns " 167 updates in a row were left out for it."; empty where no rule
// counted them.
std::string LostToIt(const Facts& f) {
  const Finding* row = f.found.First(RuleId::kOverflowStreak);
  const auto updates = row == nullptr ? std::nullopt : NumberOf(*row, "streak");
  if (!updates) return "";
  return fmt::format(" {:.0f} updates in a row were left out for it.",
                     *updates);
}

}  // namespace

bool WhenNanBackward(const Facts& f, const Matches&, Match* match) {
  if (!f.backward || f.grown != nullptr) return false;
  const BackwardNan& nan = *f.backward;
  CauseVerdict& verdict = match->verdict;
  verdict.step = nan.step;
  verdict.grade =
      nan.left_out ? EvidenceGrade::kHypothesis : EvidenceGrade::kSupported;
  if (!nan.gradients.empty()) {
    const OpEvidence& first = *nan.gradients[0];
    verdict.origin = OriginOf(first);
    if (MadeIt(first, nan.step)) verdict.grade = EvidenceGrade::kEstablished;
  }
  verdict.rule = RuleOfNan(f, verdict);
  return true;
}

void SayNanBackward(const Facts& f, Match* match) {
  const RunEvidence& e = f.evidence;
  const BackwardNan& nan = *f.backward;
  // A later update of that step has a loss that is not.
  const bool spoils_at_once = e.first_kept_nonfinite_loss_step == nan.step;
  const bool spoilt = e.first_kept_nonfinite_loss_step >= nan.step;
  match->Say(
      fmt::format("{} is born in the backward pass at step {}. The loss of "
                  "that {} is finite, {}.{}",
                  nan.gradients.empty() ? "NaN" : KindOf(*nan.gradients[0]),
                  nan.step, spoils_at_once ? "update" : "step", Where(nan),
                  nan.left_out ? LostToIt(f) : ""));
  if (nan.gradients.empty()) {
    match->Support(EvidenceGrade::kHypothesis,
                   "No gradient of a single parameter was reported, so the "
                   "place is not known.");
  }
  if (spoilt) {
    match->Support(EvidenceGrade::kEstablished,
                   fmt::format("The loss is not finite from step {} on: an "
                               "update wrote NaN into the weights.",
                               e.first_kept_nonfinite_loss_step));
  }
  // Those are left out already, and no later one is better.
  if (nan.left_out) return;
  std::string leave = "Leave an update out whose gradient norm is not finite";
  if (spoilt) leave += ", and {back}";
  match->Advise(leave + ".");
  match->Advise(
      "clip_grad_norm_(parameters, max_norm, error_if_nonfinite=True) stops "
      "before such an update.",
      "pytorch");
}

}  // namespace nanwatch
