#include "detect/course.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

constexpr float kStaysUp = 0.85f;  // of the rise of the first third; ours
// A loss may be thrown high and come to stand lower, at a level that is none
// of its own all the same: then it stays as high as in the middle third. Fewer
// records do not tell that from a slow way back.
constexpr float kStands = 0.95f;      // of the middle third's; ours
constexpr int32_t kManyRecords = 64;  // records; ours
// From third to third, of the rise of the first: of few records that is a way
// back already, as of a spike that takes 500 steps.
constexpr float kFalls = 0.025f;  // ours
// Of the third before: it does not settle at another level. Of many records so
// much of the first third's rise is left at most.
constexpr float kFast = 0.875f;      // ours
constexpr float kNearlyBack = 0.4f;  // ours

}  // namespace

void Course::Add(float loss) {
  if (used_ == 0 || newest_ == each_) {
    if (used_ == kStretches) {
      for (int i = 0; i < kStretches / 2; ++i) {
        mean_[i] = (mean_[2 * i] + mean_[2 * i + 1]) / 2;
      }
      used_ = kStretches / 2;
      each_ *= 2;
    }
    newest_ = 0;
    mean_[used_++] = 0;
  }
  float& mean = mean_[used_ - 1];
  ++newest_;
  mean += (loss - mean) / static_cast<float>(newest_);
}

int Course::Third() const { return std::max(1, used_ / 3); }

float Course::Mean(int from, int count) const {
  float sum = 0;
  float records = 0;
  for (int i = from; i < from + count; ++i) {
    const auto weight = static_cast<float>(i == used_ - 1 ? newest_ : each_);
    sum += weight * mean_[i];
    records += weight;
  }
  return sum / records;
}

int Course::LastThird() const {
  return std::min(used_, Third() + (2 * newest_ < each_ ? 1 : 0));
}

float Course::last() const { return Mean(used_ - LastThird(), LastThird()); }

float Course::Quickens() const {
  const auto third = static_cast<float>(Third());
  const auto end = static_cast<float>(LastThird());
  const auto used = static_cast<float>(used_);
  // Between the middles of thirds, in stretches.
  const float to_middle = std::floor((used - third) / 2);
  const float to_last = used - end / 2 - (to_middle + third / 2);
  const float before = (first() - middle()) / to_middle;
  return used_ < 3 || before <= 0 ? 0 : (middle() - last()) / to_last / before;
}

bool Course::ComesDown(float usual) const {
  const int third = Third();
  const float first = Mean(0, third) - usual;
  const float middle = this->middle() - usual;
  const float rise = last() - usual;
  const bool stays = rise >= kStaysUp * first;
  if (records() >= kManyRecords) return !stays && rise < kStands * middle;
  const float least = kFalls * first;
  return !stays || (middle <= first - least && rise <= middle - least);
}

bool Course::Creeps(float most) const {
  for (int i = 1; i < used_; ++i) {
    if (mean_[i] - mean_[i - 1] > most) return false;
  }
  return first() < middle() && middle() < last();
}

float Course::lowest() const {
  return *std::min_element(mean_.begin(), mean_.begin() + used_);
}

bool Course::Falls(float usual) const {
  const float before = first() - usual;
  const float middle = this->middle() - usual;
  const float rise = last() - usual;
  if (records() >= kManyRecords && rise > kNearlyBack * before) return false;
  return rise < kFast * middle;
}

}  // namespace nanwatch
