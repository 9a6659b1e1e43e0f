#include "detect/rank_apart.h"

#include <algorithm>
#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kNothing = 1e-30;  // a mean that no share can be of; ours

constexpr ThresholdSpec kThresholds[] = {
    {"loss", 0.05, 0, 100, "of the loss",
     "ours: less is a matter of which samples a rank has"},
    {"norm", 1, 0, 1000, "of the norm",
     "ours: norms of single batches differ by a half"},
    {"usual", 4, 1, 1000, "ratio",
     "ours: by chance the widest of eight ranks is at twice its mean"},
    {"moved", 0.5, 0, 100, "of the gap",
     "ours: learning itself parts ranks that have other data"},
    {"nats", 25, 1, 1000, "nats", "ours: 1e-11 a step, by chance"},
    {"learn", 20, 2, 100000, "steps", "ours"},
    {"hold", 16, 1, 100000, "steps", "ours: a shard of hard samples"},
    {"clear_after", 20, 1, 100000, "steps", "ours"},
};

// How far a leader is from the mean of the others, as a share of that.
double LossGap(double leader, double mean) {
  return std::fabs(leader - mean) / std::max(std::fabs(mean), kNothing);
}
double NormGap(double leader, double mean) {
  return std::max(leader, mean) / std::max(std::min(leader, mean), kNothing) -
         1;
}

}  // namespace

constinit const RuleSpec RankApart::kSpec = {
    RuleId::kRankApart,
    "rank_apart",
    Family::kRank,
    "The loss or the gradient norm of one rank has left those of the others.",
    "One rank's is above, or below, that of all others in nearly every step, "
    "where ranks took turns before for `learn` steps: `nats` say that it is no "
    "chance, and it is so for `hold` steps. It is "
    "`loss` of the others' mean (`norm` of a norm) or more away from that, "
    "`usual` times as far as the outermost rank was before. The others' mean "
    "moved meanwhile by less than `moved` of that.",
    "Another rank is as far out for `clear_after` steps.",
    kThresholds,
    "A rank that stands apart from the beginning is not judged: it has data or "
    "a part of the model of its own. Norms that were equal are "
    "replica_divergence's. Only steps in which all ranks have a finite value "
    "are compared."};

void RankApart::Follow(const AlignedStep& s) {
  const auto follow = [&](const OfRanks& of, int32_t* most, auto gap,
                          RankLead* above, RankLead* below) {
    *most = std::max(*most, of.count);
    if (of.count < 2 || of.count < *most) return;
    const double others = of.count - 1;
    const bool equal = of.max == of.min;
    const double under = (of.sum - of.max) / others;
    const double over = (of.sum - of.min) / others;
    above->Add(s.step, of.count, of.at_max == 1 ? of.max_rank : -1,
               equal ? 0 : gap(of.max, under), under);
    below->Add(s.step, of.count, of.at_min == 1 ? of.min_rank : -1,
               equal ? 0 : gap(of.min, over), over);
  };
  follow(s.loss, &most_[0], LossGap, &leads_[kLossAbove], &leads_[kLossBelow]);
  follow(s.norm, &most_[1], NormGap, &leads_[kNormAbove], &leads_[kNormBelow]);
}

bool RankApart::Left(Side side, Thresholds t) const {
  const RankLead& lead = leads_[side];
  const bool of_loss = side == kLossAbove || side == kLossBelow;
  return lead.nats() >= t[kNats] && lead.held() >= t[kHold] &&
         lead.before() >= t[kLearn] &&
         lead.gap() >= t[of_loss ? kLoss : kNorm] &&
         lead.gap() >= t[kUsual] * lead.usual() &&
         lead.moved() <= t[kMoved] * lead.gap();
}

Severity RankApart::OnAligned(const AlignedContext& c, Thresholds t) {
  const AlignedStep& s = c.step;
  if (s.nonfinite > 0 || s.skipped > 0 ||
      (s.loss.count < 2 && s.norm.count < 2)) {
    return episode_.severity();
  }
  Follow(s);
  if (!episode_.open()) {
    int left = -1;
    for (int side = kSides - 1; side >= 0; --side) {
      if (Left(static_cast<Side>(side), t)) left = side;
    }
    if (left < 0) return Severity::kNone;
    side_ = static_cast<int8_t>(left);
    ranks_ = most_[side_ >= kNormAbove];
  }
  const RankLead& lead = leads_[static_cast<size_t>(side_)];
  const bool left = Left(static_cast<Side>(side_), t);
  if (left) told_ = lead;
  const bool away = lead.since() == told_.since() && lead.nats() > 0 &&
                    lead.gap() >= t[kUsual] * lead.usual();
  if (away) told_ = lead;
  return episode_.OnSince(told_.since(),
                          left ? Severity::kWarning : Severity::kNone, !away,
                          s.step, t[kClear]);
}

void RankApart::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (side_ < 0) return;
  const RankLead& lead = told_;
  const bool of_loss = side_ == kLossAbove || side_ == kLossBelow;
  const bool above = side_ == kLossAbove || side_ == kNormAbove;
  finding->subject.rank = lead.rank();
  const auto away = [&](double gap) {
    return of_loss ? Sentence(100 * gap, " % ", above ? "above" : "below")
                   : Sentence(1 + gap, above ? " times" : " times below");
  };
  finding->SayBoth([&](Tense tense) {
    return Sentence(of_loss ? "The loss" : "The gradient norm", " of rank ",
                    lead.rank(), In(tense, " has left", " left"),
                    " the others' at step ", lead.since(), ": it ",
                    In(tense, "is ", "was "), away(lead.gap()),
                    " the mean of the other ", ranks_ - 1, ". Before, the ",
                    above ? "highest" : "lowest", " rank was usually ",
                    of_loss ? Sentence(100 * lead.usual(), " %")
                            : Sentence(1 + lead.usual(), " times"),
                    " away.");
  });
  finding->numbers = {{"gap", lead.gap(), "ratio"},
                      {"usual", lead.usual(), "ratio"}};
}

}  // namespace nanwatch
