#include "push/moments.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nanwatch {
namespace {

// 300 bytes each, here and in the cursor file: 6 MB. Ours.
constexpr size_t kLanes = 20000;
// How far a moment may be put behind its record's time. Ours.
constexpr int64_t kAheadMs = 1000;

int64_t ToMillis(Time time) { return ToMicros(time) / 1000; }

Moment MomentOf(const StepRecord& record) {
  Moment moment;
  moment.fields = record.present | 1u << kPushedStep;
  std::copy(record.value.begin(), record.value.end(), moment.value.begin());
  const auto flag = [&](StepFlag which, int field) {
    if (!record.is(which) && !record.is_not(which)) return;
    moment.fields |= 1u << field;
    moment.value[field] = record.is(which) ? 1 : 0;
  };
  flag(StepFlag::kOverflow, kPushedOverflow);
  flag(StepFlag::kSkipped, kPushedSkipped);
  moment.value[kPushedStep] = static_cast<double>(record.step);
  return moment;
}

}  // namespace

std::string_view PushedName(int field) {
  constexpr std::array<std::string_view, kPushedFields> kNames = {
      "loss",
      "loss_scale",
      "grad_norm",
      "update_norm",
      "param_norm",
      "learning_rate",
      "grad_zero_ratio",
      "grad_underflow_ratio",
      "consumed_samples",
      "applied_grad_norm",
      "overflow",
      "skipped",
      "number"};
  return kNames[field];
}

void Moments::Know(const Lane& lane) {
  auto known = std::make_shared<Lane>(lane);
  known->last_ms = lane.done_ms;
  known->fields = lane.done_fields;
  lanes_[lane.key] = std::move(known);
}

void Moments::Take(const StampedEvent& stamped, uint64_t skip,
                   std::deque<Moment>* queue) {
  const EventBody& body = stamped.event.body;
  if (const auto* steps = std::get_if<StepBatch>(&body)) {
    TakeSteps(stamped, steps->columns, skip, queue);
    return;
  }
  const bool ends = std::holds_alternative<RankClosed>(body) ||
                    std::holds_alternative<RecordsEnded>(body) ||
                    std::holds_alternative<RunClosed>(body);
  if (ends) End(stamped, queue);
}

void Moments::TakeSteps(const StampedEvent& stamped, const StepColumns& columns,
                        uint64_t skip, std::deque<Moment>* queue) {
  const Event& event = stamped.event;
  if (event.rank < 0 || event.rank >= ranks_) return;
  StepReader reader(columns);
  StepRecord record;
  std::shared_ptr<Lane> lane;
  for (uint64_t row = 0; reader.Next(&record); ++row) {
    if (row < skip) continue;
    Moment moment = MomentOf(record);
    const std::string& optimizer = columns.optimizers.empty()
                                       ? std::string()
                                       : columns.optimizers[record.optimizer];
    if (lane == nullptr || lane->key.optimizer != optimizer) {
      lane = Find({event.run, event.rank, optimizer});
    }
    if (lane == nullptr) {
      crowded_ += moment.samples();
      continue;
    }
    // A time of the future would shut out what others send.
    const int64_t own = ToMillis(std::min(record.time, stamped.now));
    moment.ms = std::max(own, lane->last_ms + 1);
    if (moment.ms - own > kAheadMs) {
      unordered_ += moment.samples();
      continue;
    }
    lane->last_ms = moment.ms;
    lane->fields |= moment.fields;
    moment.event = stamped.id;
    moment.row = row;
    moment.lane = lane;
    queue->push_back(std::move(moment));
  }
}

void Moments::End(const StampedEvent& stamped, std::deque<Moment>* queue) {
  const Event& event = stamped.event;
  const bool closed = std::holds_alternative<RunClosed>(event.body);
  LaneKey from{event.run, std::max(event.rank, 0), ""};
  if (event.rank < 0) from.rank = std::numeric_limits<int32_t>::min();
  for (auto it = lanes_.lower_bound(from);
       it != lanes_.end() && it->first.run == event.run; ++it) {
    Lane& lane = *it->second;
    if (event.rank >= 0 && lane.key.rank != event.rank) break;
    if (!closed && lane.fields == 0) continue;
    Moment moment;
    moment.lane = it->second;
    moment.event = stamped.id;
    moment.ends = true;
    moment.of_run = closed;
    moment.ms = std::max(lane.last_ms + 1, ToMillis(stamped.now));
    moment.fields = std::exchange(lane.fields, 0);
    lane.last_ms = moment.ms;
    queue->push_back(std::move(moment));
  }
}

void Moments::Done(const Moment& moment) {
  Lane& lane = *moment.lane;
  lane.done_ms = moment.ms;
  if (!moment.ends) {
    lane.done_fields |= moment.fields;
    return;
  }
  lane.done_fields = 0;
  if (moment.of_run && lane.fields == 0) lanes_.erase(LaneKey(lane.key));
}

std::shared_ptr<Lane> Moments::Find(LaneKey key) {
  const auto found = lanes_.find(key);
  if (found != lanes_.end()) return found->second;
  if (lanes_.size() >= kLanes) return nullptr;
  auto lane = std::make_shared<Lane>();
  lane->key = key;
  return lanes_.emplace(std::move(key), std::move(lane)).first->second;
}

uint64_t Moments::TakeCrowded() { return std::exchange(crowded_, 0); }
uint64_t Moments::TakeUnordered() { return std::exchange(unordered_, 0); }

}  // namespace nanwatch
