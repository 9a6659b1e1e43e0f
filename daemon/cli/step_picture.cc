#include "cli/step_picture.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/picture.h"
#include "history/picture.h"
#include "rpc/view_messages.h"

namespace nanwatch {
namespace {

// Lines that a picture of one number takes.
constexpr int kRows = 5;
// A span of values beyond this is drawn by their logarithm.
constexpr double kWideSpan = 30;

void AddToBucket(double value, StepBucket::Value* to) {
  if (std::isnan(value)) {
    ++to->nan;
  } else if (std::isinf(value)) {
    ++(value > 0 ? to->pos_inf : to->neg_inf);
  } else {
    to->min = to->count == 0 ? value : std::min(to->min, value);
    to->max = to->count == 0 ? value : std::max(to->max, value);
    to->last = value;
    ++to->count;
  }
}

void AddStep(const StepRecord& step, StepBucket* bucket) {
  if (bucket->records++ == 0) bucket->first_step = step.step;
  bucket->last_step = step.step;
  if (step.is(StepFlag::kOverflow)) ++bucket->overflows;
  if (step.is(StepFlag::kSkipped)) ++bucket->skipped;
  for (const StepField field : {StepField::kLoss, StepField::kLossScale}) {
    if (step.has(field)) {
      AddToBucket(step[field], &bucket->value[static_cast<int>(field)]);
    }
  }
}

// Every `group` neighbours as one.
std::vector<StepBucket> Merged(const std::vector<StepBucket>& buckets,
                               size_t group) {
  std::vector<StepBucket> merged;
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (i % group == 0) merged.emplace_back();
    AddBucket(buckets[i], &merged.back());
  }
  return merged;
}

// Turns the losses of `columns` into what they are the negative of.
void Negate(std::vector<StepBucket>* columns) {
  for (StepBucket& column : *columns) {
    StepBucket::Value& value = column.value[static_cast<int>(StepField::kLoss)];
    const double min = std::exchange(value.min, -value.max);
    value.max = -min;
    value.last = -value.last;
    std::swap(value.pos_inf, value.neg_inf);
  }
}

Axis AxisFor(const std::vector<StepBucket>& buckets, StepField field) {
  double low = INFINITY;
  double high = 0;
  for (const StepBucket& bucket : buckets) {
    const StepBucket::Value& value = bucket.value[static_cast<int>(field)];
    if (value.count == 0) continue;
    low = std::min(low, value.min);
    high = std::max(high, value.max);
  }
  return low > 0 && high > kWideSpan * low ? Axis::kLog2 : Axis::kLinear;
}

}  // namespace

size_t StepPicture::IndexOf(int32_t rank, std::string_view optimizer) const {
  const auto found =
      std::find_if(series_.begin(), series_.end(), [&](const Series& one) {
        return one.rank == rank && one.optimizer == optimizer;
      });
  return static_cast<size_t>(found - series_.begin());
}

void StepPicture::Add(const LogRecord& record) {
  const size_t index = IndexOf(record.rank, record.optimizer);
  if (index == kSeries) return;
  if (index == series_.size()) {
    series_.push_back({record.rank, std::string(record.optimizer), {}, 1});
  }
  Series& own = series_[index];
  std::vector<StepBucket>& buckets = own.buckets;
  if (buckets.empty() || buckets.back().records == own.bucket_records) {
    if (buckets.size() == kBuckets) {
      buckets = Merged(buckets, 2);
      own.bucket_records *= 2;
    }
    buckets.emplace_back();
  }
  AddStep(record.step, &buckets.back());
}

std::string StepPicture::Text(int32_t rank, std::string_view optimizer,
                              const Style& style) const {
  if (series_.empty()) return "";
  const size_t found = IndexOf(rank, optimizer);
  const Series& drawn = series_[found < series_.size() ? found : 0];
  const auto room = static_cast<size_t>(style.columns - kPictureMargin);
  std::vector<StepBucket> columns =
      Merged(drawn.buckets, drawn.buckets.size() / (room + 1) + 1);
  if (of_reward_) Negate(&columns);
  v1::GetStepsResponse steps;
  WriteBuckets(columns, &steps);
  const std::string loss =
      Picture(steps, "loss", AxisFor(columns, StepField::kLoss), kRows, style);
  const std::string scale =
      Picture(steps, "loss_scale", Axis::kLog2, kRows, style);
  if (loss.empty() && scale.empty()) return "";
  std::string out;
  const std::string of =
      drawn.optimizer.empty() ? "" : " of " + Clean(drawn.optimizer);
  const std::string title = of_reward_ ? "Reward" : "Loss";
  if (!loss.empty()) out += style.Bold(title + of) + '\n' + loss;
  if (!scale.empty()) out += style.Bold("Loss scale" + of) + '\n' + scale;
  const bool overflows =
      std::any_of(columns.begin(), columns.end(),
                  [](const StepBucket& b) { return b.overflows > 0; });
  if (overflows) out += OverflowLine(steps, style);
  const std::string first = fmt::format("step {}", columns.front().first_step);
  const std::string last = fmt::format("{}", columns.back().last_step);
  const size_t gap = columns.size() > first.size() + last.size()
                         ? columns.size() - first.size() - last.size()
                         : 1;
  return out +
         style.Dim(fmt::format("{:{}}{}{:{}}{}", "", kPictureMargin - 1, first,
                               "", gap, last)) +
         '\n';
}

}  // namespace nanwatch
