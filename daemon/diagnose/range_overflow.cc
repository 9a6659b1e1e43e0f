// Ordinary fp16 range overflow: gradients times scale leave the range, the
// scaler steps down, and they fit again. The scaler's job.

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "diagnose/causes.h"
#include "diagnose/op_facts.h"
#include "diagnose/padding.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// Few overflows: what the scaler is there for. Those of the descent to the
// first good step are start-up and do not count: all attempts before it
// overflowed.
bool FewOverflows(const RunEvidence& e) {
  constexpr int64_t kFewOf50 = 5;  // rule 5 speaks of more in a row
  if (e.first_good_step < 0) return false;
  const int64_t since = e.last_step - e.first_good_step + 1;
  const int64_t startup =
      std::max<int64_t>(0, static_cast<int64_t>(e.attempts_last_50) - since);
  return static_cast<int64_t>(e.overflows_last_50) - startup <= kFewOf50;
}

// The op stopped being bad when the scale was lower. A gradient that is bad
// just now, after few overflows, waits for the scaler's answer: some answer
// only the second overflow.
bool WentWithTheScale(const OpEvidence& op, const RunEvidence& e) {
  if (op.clean_statuses > 0 && !IsBadNow(op, e)) return true;
  if (!IsForward(op) && op.nan == 0 && FewOverflows(e)) return true;
  return op.clean_statuses > 0 && op.scale_min && e.scale_now &&
         *e.scale_now <= *op.scale_min;
}

// Bad only while a NaN went through the forward pass: that one's doing.
bool CameWithNan(const Case& c, const OpEvidence& op) {
  return std::any_of(c.evidence.ops.begin(), c.evidence.ops.end(),
                     [&](const OpEvidence& other) {
                       return IsForward(other) && other.nan > 0 &&
                              !IsHarmless(c, other) &&
                              op.first_bad_step >= other.first_bad_step &&
                              op.last_bad_step <= other.last_bad_step;
                     });
}

}  // namespace

std::optional<CauseVerdict> RangeOverflow(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (!e.scaler_dynamic || e.overflows == 0 || e.good_steps == 0) {
    return std::nullopt;
  }
  CauseVerdict verdict;
  verdict.cause = Cause::kRangeOverflow;
  bool all_went = true;
  for (const OpEvidence& op : e.ops) {
    if (IsHarmless(c, op) || CameWithNan(c, op)) continue;
    if (BadAtEveryScale(op)) return std::nullopt;
    all_went = all_went && WentWithTheScale(op, e);
    verdict.ops.push_back(op.op.name);
  }
  if (e.ops_collected && verdict.ops.empty()) return std::nullopt;
  verdict.grade = FewOverflows(e) && all_went ? EvidenceGrade::kEstablished
                                              : EvidenceGrade::kSupported;
  verdict.rules = {4, 5, 6, 18, 19, 20, 21, 22, 25};
  if (verdict.grade == EvidenceGrade::kEstablished) {
    verdict.ceiling = Severity::kInfo;
    // That the scale falls too far or too often stays what it is.
    verdict.uncapped = {4, 5, 6};
  }
  verdict.step = e.first_overflow_step;
  verdict.sentence = fmt::format(
      "Ordinary range overflow: {} of {} steps overflowed and the scaler "
      "answered, {} of the last {}; the scale is {}.",
      e.overflows, e.attempts, e.overflows_last_50, e.attempts_last_50,
      e.scale_now ? InWords(*e.scale_now) : "not reported");
  if (!verdict.ops.empty() && all_went) {
    verdict.evidence.push_back(
        {EvidenceGrade::kEstablished,
         fmt::format("{} op(s) were bad and became clean as the scale fell, "
                     "{} first.",
                     verdict.ops.size(), verdict.ops[0])});
  }
  return verdict;
}

}  // namespace nanwatch
