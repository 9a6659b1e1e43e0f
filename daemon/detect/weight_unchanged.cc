#include "detect/weight_unchanged.h"

#include <algorithm>
#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

// Says that weights may be NaN, which no update changes.
bool IsBad(const StepRecord& r) {
  return !std::isfinite(r.get(StepField::kLoss).value_or(0)) ||
         !std::isfinite(r.get(StepField::kGradNorm).value_or(0));
}

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 100, 1, 1000000, "updates",
     "ours: where gradients are accumulated, records of micro-steps show no "
     "change for up to 64; SageMaker and MindInsight: 3"},
};

}  // namespace

constinit const RuleSpec WeightUnchanged::kSpec = {
    RuleId::kWeightUnchanged,
    "weight_unchanged",
    Family::kWeight,
    "Updates are applied and the weights do not change.",
    "In hold updates in a row that were not skipped, of a loss and a norm that "
    "are finite, with a learning rate of "
    "at least a hundredth of its highest (ten times hold where it is not "
    "collected), the replica's digest is the same or the norm of the update is "
    "0; for information where it was never otherwise.",
    "The digest changes, or the norm of the update is not 0.",
    kThresholds,
    "Accumulated gradients leave weights unchanged for up to 64 records, so "
    "3 updates became 100. What never changed may not be collected, and is "
    "for information. The printed norm of the weights is no evidence."};

bool WeightUnchanged::Follow(const StepRecord& record) {
  bool changed = false;
  if (record.replica_digest) {
    const bool moved = digested_ && digest_ != *record.replica_digest;
    digest_ = *record.replica_digest;
    same_ = moved || !digested_ ? 0 : same_ + 1;
    digested_ = true;
    digest_moved_ |= moved;
    changed |= moved;
  }
  if (record.has(StepField::kUpdateNorm)) {
    const bool moved = record[StepField::kUpdateNorm] != 0;
    updated_ |= moved;
    // Only a digest can say that an update did not arrive.
    changed |= moved && !record.replica_digest;
    zero_ = moved ? 0 : zero_ + 1;
  }
  return changed;
}

Severity WeightUnchanged::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  const bool told = r.replica_digest || r.has(StepField::kUpdateNorm);
  const bool has_rate = r.has(StepField::kLearningRate);
  const bool low = has_rate && c.rate->is_low();
  if (!told || c.scaler.fate() == Fate::kLost || low || IsBad(r)) {
    return episode_.severity();
  }
  const bool changed = Follow(r);
  const double hold = t[kHold] * (has_rate ? 1 : kBlind);
  Severity trigger = Severity::kNone;
  if (same_ >= hold || zero_ >= hold) {
    by_digest_ = same_ >= hold;
    const bool ever = by_digest_ ? digest_moved_ : updated_;
    trigger = ever ? Severity::kWarning : Severity::kInfo;
  }
  return episode_.On(trigger, changed, r.step, 1);
}

void WeightUnchanged::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const bool ever = by_digest_ ? digest_moved_ : updated_;
  finding->sentence =
      by_digest_
          ? Sentence("The replica's digest is the same for ", same_,
                     " records of updates that were not skipped",
                     ever ? ": updates do not reach the weights."
                          : ", since the start: updates do not reach the "
                            "weights, or it covers something else.")
          : Sentence("The norm of the update is 0 for ", zero_,
                     " records of updates that were not skipped",
                     ever ? ": the weights do not change."
                          : ", since the start: the weights do not change, or "
                            "it is not collected.");
  finding->numbers = {
      {"attempts", static_cast<double>(by_digest_ ? same_ : zero_), "updates"}};
}

}  // namespace nanwatch
