#include "detect/op_overflow_origin.h"

#include <utility>

#include "detect/bad_elements.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

bool IsResult(Slot slot) {
  return slot == Slot::kOutput || slot == Slot::kGradInput ||
         slot == Slot::kCollective;
}

}  // namespace

constinit const RuleSpec OpOverflowOrigin::kSpec = {
    RuleId::kOpOverflowOrigin,
    "op_overflow_origin",
    Family::kOp,
    "The trouble begins in this op: its inputs are clean and its output is "
    "not.",
    "Inputs collected and clean, the output bad; for information where a "
    "dynamic scaler calibrates or answers it by one or two skipped steps, or "
    "where all of it is -infinity, as a mask writes it, and loss and update "
    "are sound; a warning where a scaler answers a NaN in the forward pass "
    "so, or the program itself does.",
    "clear_after updates without a bad output.",
    kThresholds,
    "It is for information where a dynamic scaler answers one or two "
    "overflows with skipped steps, since healthy runs have those. It is so, "
    "too, where all that is bad is -infinity, as masks write it, while loss "
    "and norm of that step are finite and its update goes through. Other "
    "infinities and NaN become information when they were there from the "
    "beginning, or came six times without harm. Without harm means: of the "
    "updates at which the op was bad, more than two went well (eight, for "
    "NaN) for each whose update was lost or spoilt. This must hold of all "
    "ranks together and of the rank that fares worst, since a rank that "
    "masks its infinities hides none of another's. It must also hold of a "
    "rank's newest 64 updates, two to one for NaN too: what went well for "
    "4000 steps excuses nothing now, but a scale may have to halve sixteen "
    "times in a row. Not counted is what the search of the start lost, nor "
    "what follows a loss that is not finite until six records of that rank "
    "in a row went well. A NaN whose update the scaler or the program "
    "itself skips is a warning for up to two updates in a row."};

Severity OpOverflowOrigin::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const double clear = t[kClear];
  if (!IsResult(s.slot)) return Severity::kNone;
  const BadElements bad = CountBad(c);
  if (!bad.any() || c.inputs != InputState::kClean) {
    return episode_.On(Severity::kNone, bad.any(), c.update, s.step, clear);
  }
  const bool forward_nan = bad.nan > 0 && s.slot == Slot::kOutput;
  Severity trigger = Severity::kCritical;
  if (ScalerAnswers(c)) {
    trigger = forward_nan ? Severity::kWarning : Severity::kInfo;
  } else if ((Calibrating(c) && !forward_nan) || IsAbsorbedMask(c)) {
    trigger = Severity::kInfo;
  } else if (ProgramAnswers(c)) {
    trigger = Severity::kWarning;
  }
  nan_ = bad.nan;
  inf_ = bad.inf;
  saturated_ = bad.saturated;
  elements_ = s.elements;
  scale_ = c.scaler.present_scale().value_or(0);
  return episode_.On(trigger, true, c.update, s.step, clear);
}

void OpOverflowOrigin::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      "The trouble begins here: clean inputs, and in the output";
  const char* before = " ";
  for (const auto& [count, kind] :
       {std::pair(nan_, "NaN"), std::pair(inf_, "infinite"),
        std::pair(saturated_, "saturated")}) {
    if (count == 0) continue;
    finding->sentence += Sentence(before, count, " ", kind);
    before = ", ";
  }
  finding->sentence += Sentence(" of ", elements_, " elements");
  if (scale_ > 0) finding->sentence += Sentence(", at loss scale ", scale_);
  finding->sentence += ".";
  finding->numbers = {
      {"nan", static_cast<double>(nan_), "elements"},
      {"inf", static_cast<double>(inf_), "elements"},
      {"saturated", static_cast<double>(saturated_), "elements"},
      {"elements", static_cast<double>(elements_), "elements"}};
}

}  // namespace nanwatch
