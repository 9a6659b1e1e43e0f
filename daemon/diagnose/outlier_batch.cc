// A batch unlike all others: its loss stands far above the level, its gradients
// leave theirs, and the next batch is as ever. Neither the scale nor the
// training is to blame, so no setting of theirs is proposed.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "diagnose/causes.h"
#include "diagnose/op_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// What such a batch leaves in the rules on ops, on the norm and on the loss.
constexpr int kRules[] = {18, 19, 20, 21, 22, 25, 27, 28, 34};

// The rule speaks of nothing else.
bool IsOfOutliers(const Case& c, int rule) {
  const OutlierBatches& of = c.evidence.outliers;
  bool any = false;
  for (const Finding& finding : c.findings) {
    if (finding.rule != rule) continue;
    any = true;
    const bool then = finding.opened_step == of.first_step ||
                      finding.opened_step == of.last_step;
    const bool finite =
        std::isfinite(NumberOf(finding, "grad_norm").value_or(0));
    if (!then || !finite || finding.severity > Severity::kWarning) return false;
  }
  return any;
}

std::string Sentence(const OutlierBatches& of) {
  const std::string first = fmt::format(
      "the loss was {:.4g}, {:.3g} times its usual {:.4g}, the gradients {} "
      "and the update was {}",
      of.loss, of.loss / of.usual, of.usual,
      of.overflow ? "overflowed" : "stood as far out",
      of.skipped ? "skipped" : "applied");
  if (of.count == 1) {
    return fmt::format(
        "One batch stands out, that of step {}: {}. The next is as ever.",
        of.first_step, first);
  }
  return fmt::format(
      "{} batches stand out, each alone, at steps {} to {}. At the first of "
      "them {}.",
      of.count, of.first_step, of.last_step, first);
}

}  // namespace

std::optional<CauseVerdict> OutlierBatch(const Case& c) {
  const RunEvidence& e = c.evidence;
  if (e.outliers.count == 0) return std::nullopt;
  CauseVerdict verdict;
  verdict.cause = Cause::kOutlierBatch;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.ceiling = Severity::kInfo;
  verdict.step = e.outliers.first_step;
  verdict.origin.rank = e.outlier_rank;
  if (const OpEvidence* op = FirstGradient(e, verdict.step)) {
    verdict.origin.op = op->op.name;
    verdict.origin.slot = op->slot;
  }
  verdict.sentence = Sentence(e.outliers);
  std::copy_if(std::begin(kRules), std::end(kRules),
               std::back_inserter(verdict.rules),
               [&](int rule) { return IsOfOutliers(c, rule); });
  return verdict;
}

}  // namespace nanwatch
