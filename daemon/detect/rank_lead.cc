#include "detect/rank_lead.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

constexpr double kLeads = 0.9;  // share of steps that a sole leader leads; ours
constexpr int32_t kLong = 64;   // steps of a mean at length; ours
constexpr int32_t kShort = 16;  // steps of one lately; ours
constexpr float kLasting = 5;   // nats of a lead that is no single step; ours
constexpr float kOfWidest = 2.0f / 3;  // ours
constexpr int32_t kMost = 1 << 20;

// Takes `value` into a mean of `steps` values so far, of `most` at most.
void Take(double value, int32_t steps, int32_t most, float* mean) {
  *mean += static_cast<float>((value - *mean) / std::min(steps + 1, most));
}

}  // namespace

void RankLead::Begin(int64_t step, int32_t ranks, int32_t rank) {
  if (most_nats_ >= kLasting) widest_ = std::max(widest_, most_gap_);
  most_nats_ = 0;
  most_gap_ = 0;
  gap_ = 0;
  rank_ = rank;
  since_ = step;
  held_ = 0;
  usual_ = all_;
  from_ = mean_;
  before_ = steps_;
  goes_on_ = static_cast<float>((again_ + 1.0) / (steps_ + ranks));
  nats_ = static_cast<float>(std::log(kLeads * ranks));
}

void RankLead::Add(int64_t step, int32_t ranks, int32_t rank, double gap,
                   double mean) {
  if (nats_ > 0) {
    const double by_chance = std::max<double>(goes_on_, 1.0 / ranks);
    nats_ += static_cast<float>(rank == rank_
                                    ? std::log(kLeads / by_chance)
                                    : std::log((1 - kLeads) / (1 - by_chance)));
    nats_ = std::max(nats_, 0.0f);
  }
  if (nats_ <= 0 && rank >= 0) Begin(step, ranks, rank);
  // A step that another rank leads shows no gap of this one.
  Take(rank == rank_ ? gap : 0, held_, kShort, &gap_);
  if (nats_ > most_nats_) {
    most_nats_ = nats_;
    most_gap_ = gap_;
  }
  held_ = std::min(held_ + 1, kMost);
  Take(gap, steps_, kLong, &all_);
  Take(mean, steps_, kShort, &mean_);
  if (steps_ >= kMost) {
    steps_ /= 2;
    again_ /= 2;
  }
  ++steps_;
  again_ += rank >= 0 && rank == newest_;
  newest_ = rank;
}

double RankLead::usual() const { return std::max(usual_, kOfWidest * widest_); }

double RankLead::moved() const {
  const double now = std::fabs(static_cast<double>(mean_));
  return now > 0 ? std::fabs(static_cast<double>(mean_ - from_)) / now : 0;
}

}  // namespace nanwatch
