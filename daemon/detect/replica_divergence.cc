#include "detect/replica_divergence.h"

#include <algorithm>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"agree", 1e-6, 0, 1e-2, "of the norm", "fairseq: norms of all ranks"},
    {"differ", 1e-4, 0, 1, "of the norm",
     "ours: fairseq's 1e-6 is within what a sum of another order makes"},
    {"learn", 50, 1, 100000, "steps",
     "ours: norms of before the reduction always differ"},
    {"hold", 3, 1, 1000, "steps", "ours"},
    {"never_equal", 10, 1, 100000, "comparisons",
     "ours: what is digested may be no replica (BatchNorm statistics)"},
    {"clear_after", 10, 1, 100000, "steps", "ours"},
};

// Steps: clients look at a quarter of the weights in each; ours.
constexpr int64_t kSoon = 8;

}  // namespace

constinit const RuleSpec ReplicaDivergence::kSpec = {
    RuleId::kReplicaDivergence,
    "replica_divergence",
    Family::kRank,
    "Data-parallel replicas that must be the same are not.",
    "Their digests differ at a step although they were equal before, which is "
    "critical; or were never equal in `never_equal` comparisons (critical "
    "where the gradient norms never agreed, either); or gradient "
    "norms that agree within `agree` at `learn` steps differ by more than "
    "`differ` at `hold` steps in a row. Ranks without a value are not "
    "compared. Digests that were made for it name the tensor that alone "
    "differed at first. Learning rates of the ranks that part with "
    "them are said first.",
    "Equal for `clear_after` steps.",
    kThresholds,
    "Digests that were never equal are a warning: BatchNorm's statistics "
    "are no replicas. Norms count only where they agreed before, since many "
    "programs report those of before the reduction. Ranks that only hold "
    "tensors of the same names and shapes may train apart on purpose: for "
    "information. Digests that are sums "
    "of a certain kind name the one tensor in which two differ, at 8 bytes "
    "a step. Tensor-parallel replicas are not compared: they are in other "
    "agreement groups."};

Severity ReplicaDivergence::JudgeDigests(const AlignedContext& c,
                                         Thresholds t) {
  const AlignedStep& s = c.step;
  const bool begins = unequal_ == 0 && !(episode_.open() && by_digest_);
  if (begins && s.rate.min != s.rate.max) {
    rates_ = {s.rate.min, s.rate.max, s.step};
  }
  if (s.digest.min == s.digest.max) {
    equal_once_ = true;
    unequal_ = 0;
    equal_step_ = s.step;
    return Severity::kNone;
  }
  if (begins) {
    op_.Set(c.differing_op);
    if (s.step - rates_.step > kSoon) rates_ = {};
  }
  if (unequal_ == 0 && !equal_once_) equal_step_ = s.step - 1;
  unequal_ = std::min(unequal_ + 1, 1 << 20);
  by_digest_ = true;
  digests_ = s.digest.count;
  lower_rank_ = std::min(s.digest.min_rank, s.digest.max_rank);
  higher_rank_ = std::max(s.digest.min_rank, s.digest.max_rank);
  odd_rank_ = -1;
  const auto others = s.digest.count - 1;
  if (s.digest.count > 2 && s.digest.at_min == 1 && s.digest.at_max == others) {
    odd_rank_ = s.digest.min_rank;
  } else if (s.digest.count > 2 && s.digest.at_max == 1 &&
             s.digest.at_min == others) {
    odd_rank_ = s.digest.max_rank;
  }
  alike_ = c.replica == ReplicaKind::kAlike;
  // Ranks that nobody declared to be replicas may well train apart.
  if (alike_) {
    return unequal_ >= t[kNever] ? Severity::kInfo : Severity::kNone;
  }
  if (equal_once_ || (apart_ && unequal_ >= t[kNever])) {
    return Severity::kCritical;
  }
  return unequal_ >= t[kNever] ? Severity::kWarning : Severity::kNone;
}

Severity ReplicaDivergence::JudgeNorms(const AlignedStep& s, Thresholds t) {
  const double apart = s.norm.max - s.norm.min;
  if (apart <= t[kAgree] * s.norm.max) {
    agreed_ = std::min(agreed_ + 1, 1 << 20);
    differing_ = 0;
    apart_ = false;
    return Severity::kNone;
  }
  // Norms that differ may come near each other for one step, by chance.
  apart_ = agreed_ == 0 && (apart_ || apart > t[kDiffer] * s.norm.max);
  if (agreed_ < t[kLearn]) {
    agreed_ = 0;  // norms of before the reduction
    return Severity::kNone;
  }
  if (apart <= t[kDiffer] * s.norm.max) return Severity::kNone;
  if (++differing_ < t[kHold]) return Severity::kNone;
  by_digest_ = false;
  norms_ = {s.norm.min, s.norm.max, s.step};
  lower_rank_ = s.norm.min_rank;
  higher_rank_ = s.norm.max_rank;
  odd_rank_ = -1;
  return Severity::kWarning;
}

Severity ReplicaDivergence::OnAligned(const AlignedContext& c, Thresholds t) {
  const AlignedStep& s = c.step;
  const bool digests = s.digest.count >= 2 && c.replica != ReplicaKind::kNone;
  const bool norms = s.norm.count >= 2 && s.nonfinite == 0 && s.skipped == 0;
  if (!digests && !norms) return episode_.severity();
  Severity trigger = Severity::kNone;
  if (norms) trigger = JudgeNorms(s, t);
  if (digests) trigger = std::max(trigger, JudgeDigests(c, t));
  const bool opens = !episode_.open();
  const bool clean = (!norms || differing_ == 0) &&
                     (!digests || s.digest.min == s.digest.max) &&
                     (digests || !by_digest_ || !episode_.open());
  const Severity now = episode_.On(trigger, clean, s.step, t[kClear]);
  if (opens && episode_.open() && by_digest_) {
    episode_.OpenedAt(equal_step_ + 1);
  }
  return now;
}

void ReplicaDivergence::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (odd_rank_ >= 0) finding->subject.rank = odd_rank_;
  if (!by_digest_) {
    finding->sentence = Sentence(
        "The gradient norms of replicas were equal and are not any more: ",
        norms_.lowest, " on rank ", lower_rank_, ", ", norms_.highest,
        " on rank ", higher_rank_, ".");
    finding->numbers = {{"norm_min", norms_.lowest, ""},
                        {"norm_max", norms_.highest, ""}};
    return;
  }
  finding->numbers = {{"digests", static_cast<double>(digests_), "ranks"},
                      {"apart", apart_ ? 1.0 : 0.0, ""}};
  if (!equal_once_) finding->numbers.push_back({"never_equal", 1, ""});
  if (apart_ && odd_rank_ < 0) {
    finding->sentence = Sentence(
        "The ranks do not exchange gradients, or not all of them: their norms "
        "differ, and so do the weights of rank ",
        lower_rank_, " and rank ", higher_rank_,
        equal_once_ ? Sentence(", which were equal last at step ", equal_step_)
                    : std::string(),
        alike_ ? ". Each trains weights of its own; that they are replicas is "
                 "not declared."
               : ". Each trains weights of its own.");
    return;
  }
  const bool rates_part = rates_.parts();
  finding->sentence =
      rates_part
          ? Sentence("The learning rates of ranks part, from ", rates_.lowest,
                     " to ", rates_.highest, ", and with them the weights: ")
          : std::string();
  finding->sentence +=
      odd_rank_ >= 0
          ? Sentence(rates_part ? "the" : "The", " replica of rank ", odd_rank_,
                     " differs from the ", digests_ - 1,
                     " others, which are equal")
          : Sentence(rates_part ? "the" : "The", " replicas of rank ",
                     lower_rank_, " and rank ", higher_rank_, " differ");
  if (!op_.get().empty()) {
    finding->subject.op = op_.get();
    finding->subject.slot = Slot::kParameter;
    finding->sentence +=
        Sentence(odd_rank_ >= 0 ? "; at first it did in " : "; at first in ",
                 op_.get(), " alone");
  }
  finding->sentence +=
      equal_once_
          ? Sentence("; they were equal last at step ", equal_step_, ".")
          : std::string(
                "; they were never equal since they are compared: they "
                "did not begin alike, or what is digested is no "
                "replica.");
}

}  // namespace nanwatch
