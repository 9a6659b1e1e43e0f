#include "detect/sdc_strikes.h"

#include <algorithm>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kByChance = 1e-3;  // a probability; ours

constexpr ThresholdSpec kThresholds[] = {
    {"ratio", 10, 1.5, 1e9, "ratio",
     "Megatron: 10 x; torch_npu ASD suspects 10 x the norm"},
    {"strikes", 3, 2, 12, "strikes", "torch_npu ASD: three"},
    {"apart", 300, 0, 1e6, "s", "torch_npu ASD: cooldown 5 min"},
    {"within", 28800, 1, 1e8, "s", "torch_npu ASD: 480 min"},
    {"share", 0.8, 0.5, 1, "of the strikes",
     "ours: when others are hit too, it is the data"},
};

// Strikes until the same of `ranks` ranks was hit each time by chance once in
// 1000: 5 of 8 ranks, 3 of 32 and more.
int32_t AgainstChance(int32_t ranks) {
  double chance = 1;
  int32_t strikes = 1;
  while (chance > kByChance && strikes < 12) {
    chance /= std::max(ranks, 2);
    ++strikes;
  }
  return strikes;
}

}  // namespace

constinit const RuleSpec SdcStrikes::kSpec = {
    RuleId::kSdcStrikes,
    "sdc_strikes",
    Family::kRank,
    "One rank alone goes wrong again and again: its device may corrupt data in "
    "silence.",
    "A strike is a step on which one rank's loss or norm alone is not finite "
    "in an update that was not skipped, or its norm is `ratio` times that of "
    "any other. The same rank has `strikes` of them, or as many more as chance "
    "would make once in 1000 among so few ranks, `apart` seconds or more from "
    "each other and in a span of `within` seconds, and a share of `share` of "
    "all. A warning only (torch_npu too goes on to checksums): the rank's part "
    "of the data would look the same.",
    "No strike for `within` seconds.",
    kThresholds,
    "The rule is not about an exploding global norm, which every rank sees, "
    "but about one rank alone. It asks for as many strikes as chance would "
    "make once in 1000 among so few ranks. It is a warning only, since the "
    "rank's share of the data would look the same."};

int32_t SdcStrikes::Accused(const AlignedContext& c, Thresholds t) {
  const AlignedStep& s = c.step;
  if (s.judged_finite < 2 || s.judged_finite < s.expected) return -1;
  const bool unscaled = c.run.scaler.kind == ScalingKind::kNone;
  if (s.nonfinite > 0) {
    const bool counts = s.nonfinite == 1 && (s.skipped == 0 || unscaled);
    return counts ? s.nonfinite_rank : -1;
  }
  if (s.norm.count < 2 || s.norm.count < s.expected || s.skipped > 0) return -1;
  return s.norm.max >= t[kRatio] * s.norm_second ? s.norm.max_rank : -1;
}

Severity SdcStrikes::Judge(const AlignedContext& c, Thresholds t,
                           int32_t rank) {
  for (Strike& strike : strikes_) {
    if (strike.rank == rank && ToSeconds(c.time - strike.time) < t[kApart]) {
      strike.time = c.time;  // the same incident
      return severity_;
    }
  }
  std::copy_backward(strikes_.begin(), strikes_.end() - 1, strikes_.end());
  strikes_[0] = {c.time, rank};
  int32_t mine = 0;
  int32_t others = 0;
  for (const Strike& strike : strikes_) {
    if (strike.rank < 0 || ToSeconds(c.time - strike.time) > t[kWithin]) {
      continue;
    }
    ++(strike.rank == rank ? mine : others);
  }
  const double needed =
      std::max<double>(t[kStrikes], AgainstChance(c.step.expected));
  if (mine < needed || mine < t[kShare] * (mine + others)) return severity_;
  if (severity_ == Severity::kNone) opened_step_ = c.step.step;
  rank_ = rank;
  count_ = mine;
  others_ = others;
  ranks_ = c.step.expected;
  return severity_ = Severity::kWarning;
}

Severity SdcStrikes::OnAligned(const AlignedContext& c, Thresholds t) {
  const int32_t accused = Accused(c, t);
  if (accused >= 0) Judge(c, t, accused);
  if (severity_ == Severity::kNone) return severity_;
  last_step_ = c.step.step;
  Time newest{};
  for (const Strike& strike : strikes_) {
    if (strike.rank == rank_) newest = std::max(newest, strike.time);
  }
  if (ToSeconds(c.time - newest) > t[kWithin]) severity_ = Severity::kNone;
  return severity_;
}

void SdcStrikes::Describe(Finding* finding) const {
  finding->opened_step = opened_step_;
  finding->last_step = last_step_;
  finding->subject.rank = rank_;
  finding->sentence = Sentence(
      "Rank ", rank_, " alone went wrong ", count_, " times, minutes apart, ",
      others_ == 0 ? std::string("and no other of the ")
                   : Sentence("the others together ", others_, " times, of "),
      ranks_, " ranks: suspect its device, or its share of the data.");
  finding->numbers = {{"strikes", static_cast<double>(count_), "strikes"},
                      {"others", static_cast<double>(others_), "strikes"},
                      {"rank", static_cast<double>(rank_), ""}};
}

}  // namespace nanwatch
