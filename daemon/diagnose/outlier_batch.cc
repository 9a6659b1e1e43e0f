// A batch unlike all others: its loss stands far above the level, its gradients
// leave theirs, and the next batch is a usual one. Neither the scale nor the
// training is to blame, so no setting of theirs is proposed.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "diagnose/cause_form.h"
#include "diagnose/op_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// What such a batch leaves in the rules on ops, on the norm and on the loss.
constexpr RuleSet kRules = {RuleId::kOpOverflowOrigin,
                            RuleId::kOpOverflowPropagated,
                            RuleId::kPersistentOpOverflow,
                            RuleId::kOpSaturation,
                            RuleId::kOpInternalOverflow,
                            RuleId::kNearOverflow,
                            RuleId::kGnormSpike,
                            RuleId::kGnormExplosion,
                            RuleId::kLossSpike};

// Of losses, gradients and devices: while one is found for another reason, such
// a batch excuses nothing.
constexpr RuleSet kGraver = {
    RuleId::kCommNonfiniteOrigin, RuleId::kNumericMutation, RuleId::kGnormSpike,
    RuleId::kGnormExplosion,      RuleId::kGradRatio,       RuleId::kLossSpike,
    RuleId::kLossHighPlateau,     RuleId::kUpdateNormSpike, RuleId::kSdcStrikes,
    RuleId::kWeightOutOfRange};

constexpr RuleId kNormStays = RuleId::kGnormSpike;

// Those of all ranks, of which there may be thousands.
class AllOutliers {
 public:
  explicit AllOutliers(const std::vector<OutlierBatches>& all) {
    for (const OutlierBatches& of : all) {
      for (const int64_t step : of.steps) steps_.insert(step);
      steps_.insert({of.first_step, of.pending_step});
    }
    steps_.erase(-1);
    for (const OutlierBatches& of : all) {
      all_.push_back({&of, NewestOtherNorm(of)});
    }
    std::stable_sort(all_.begin(), all_.end(), [](const Of& a, const Of& b) {
      return a.batches->rank < b.batches->rank;
    });
  }

  bool Has(int64_t step) const { return steps_.contains(step); }

  // True for a norm that stood out first at `step`: it is one's of any rank,
  // and so are those since.
  bool ExplainNorm(int64_t step) {
    const auto [known, is_new] = norms_.try_emplace(step, false);
    if (is_new) {
      known->second =
          std::any_of(all_.begin(), all_.end(), [step](const Of& of) {
            return of.batches->MayHave(step) && of.other_norm < step;
          });
    }
    return known->second;
  }

  // True for a loss that it explains, which is the rank's own.
  bool ExplainLoss(int32_t rank, int64_t step) const {
    const auto [first, last] =
        std::equal_range(all_.begin(), all_.end(), rank, ByRank{});
    return std::any_of(first, last, [step](const Of& of) {
      return of.batches->MayHave(step) && of.batches->other_loss_step < step;
    });
  }

 private:
  struct Of {
    const OutlierBatches* batches;
    int64_t other_norm;  // newest that stood out and is no outlier's; -1: none
  };
  struct ByRank {
    bool operator()(const Of& of, int32_t rank) const {
      return of.batches->rank < rank;
    }
    bool operator()(int32_t rank, const Of& of) const {
      return rank < of.batches->rank;
    }
  };

  int64_t NewestOtherNorm(const OutlierBatches& of) const {
    int64_t newest = -1;
    for (const int64_t step : of.other_norm_steps) {
      if (!Has(step)) newest = std::max(newest, step);
    }
    return newest;
  }

  std::unordered_set<int64_t> steps_;
  std::vector<Of> all_;            // by rank
  std::map<int64_t, bool> norms_;  // what ExplainNorm() said
};

// True when the op that it speaks of was bad at another batch since.
bool HasGoneOn(const Facts& f, const AllOutliers& outliers,
               const Finding& finding) {
  return std::any_of(f.evidence.ops.begin(), f.evidence.ops.end(),
                     [&](const OpEvidence& op) {
                       return IsOf(op, finding.subject) &&
                              op.last_bad_step > finding.opened_step &&
                              !outliers.Has(op.last_bad_step);
                     });
}

// True when it opened at such a batch, and nothing else fed it since. Gradients
// are all ranks', a loss is its own. A norm that gnorm_spike warns of stays.
bool IsOfOutlier(const Facts& f, AllOutliers* outliers,
                 const Finding& finding) {
  const Severity most =
      finding.rule == kNormStays ? Severity::kInfo : Severity::kWarning;
  if (finding.severity > most ||
      !std::isfinite(NumberOf(finding, "grad_norm").value_or(0))) {
    return false;
  }
  const int64_t opened = finding.opened_step;
  switch (finding.family) {
    case Family::kOp:
      return outliers->Has(opened) && !HasGoneOn(f, *outliers, finding);
    case Family::kLoss:
      return outliers->ExplainLoss(finding.subject.rank, opened);
    default:
      return outliers->ExplainNorm(opened);
  }
}

// Returns the rules that speak of nothing else; none where a graver one does.
RuleSet RulesOf(const Facts& f) {
  AllOutliers outliers(f.evidence.outliers);
  RuleSet rules = kRules & f.found.rules();
  for (const Finding& finding : f.found) {
    if (rules.has(finding.rule) && !IsOfOutlier(f, &outliers, finding)) {
      rules.Remove(finding.rule);
    }
  }
  for (const RuleId rule : (kGraver & f.found.rules()) - rules) {
    if (f.found.worst(rule) > Severity::kInfo) return {};
  }
  return rules;
}

std::string_view InWords(OutlierBatches::Gradients gradients) {
  switch (gradients) {
    case OutlierBatches::Gradients::kOverflowed:
      return ", the gradients overflowed";
    case OutlierBatches::Gradients::kFarOut:
      return ", the gradients stood out, too";
    default:
      return "";
  }
}

std::string Sentence(const OutlierBatches& of) {
  const std::string first =
      fmt::format("the loss was {:.4g}, {:.3g} times its usual {:.4g}{}{}",
                  of.loss, of.loss / of.usual, of.usual, InWords(of.gradients),
                  of.skipped   ? ", and the update was skipped"
                  : of.applied ? ", and the update was applied"
                               : "");
  if (of.count == 1) {
    return fmt::format(
        "One batch stands out, that of step {}: {}. The next is normal again.",
        of.first_step, first);
  }
  return fmt::format(
      "{} batches stand out, each alone, at steps {} to {}. At the first of "
      "them {}.",
      of.count, of.first_step, of.steps[0], first);
}

}  // namespace

bool WhenOutlierBatch(const Facts& f, const Matches&, Match* match) {
  if (f.evidence.outliers.empty()) return false;
  const OutlierBatches& most = f.evidence.outliers[0];
  // The one batch after which the loss was finite for some records only.
  const bool diverged = f.grown != nullptr && f.evidence.rise &&
                        most.count == 1 &&
                        most.first_step == f.evidence.rise->step;
  if (diverged) return false;
  CauseVerdict& verdict = match->verdict;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.step = most.first_step;
  if (const OpEvidence* op = FirstGradient(f.evidence, verdict.step)) {
    verdict.origin = OriginOf(*op);
  }
  verdict.origin.rank = most.rank;
  verdict.rules = RulesOf(f);
  if (most.wild) verdict.ceiling = Severity::kWarning;
  // One of a loss that had left its level by then is no batch of its own.
  return !f.found.Any([&](const Finding& finding) {
    return kLossLevel.has(finding.rule) && !verdict.rules.has(finding.rule) &&
           finding.severity > Severity::kInfo &&
           finding.subject.rank == most.rank &&
           finding.opened_step < most.first_step;
  });
}

void SayOutlierBatch(const Facts& f, Match* match) {
  const std::vector<OutlierBatches>& all = f.evidence.outliers;
  match->Say(Sentence(all[0]));
  const bool others = std::any_of(
      all.begin(), all.end(),
      [&](const OutlierBatches& of) { return of.rank != all[0].rank; });
  if (others) {
    match->Support(EvidenceGrade::kEstablished,
                   "Other ranks have some, too; none has more.");
  }
}

}  // namespace nanwatch
