#include "client_lib/src/batcher.h"

#include <algorithm>
#include <utility>

#include "client_lib/src/checks.h"
#include "client_lib/src/op_batch.h"
#include "client_lib/src/step_batch.h"
#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;

// Rows that one turn takes: bounds the memory of a turn, and how long the
// ring's room stays taken.
constexpr size_t kRowsPerTurn = 16384;
// Op names of one message: some 300 bytes each at worst usually, 100 KB.
constexpr uint32_t kNamesPerMessage = 256;

uint64_t Elements(const v1::OpName& op) {
  const auto& shape =
      op.storage_shape().empty() ? op.logical_shape() : op.storage_shape();
  if (shape.empty()) return 0;
  uint64_t elements = 1;
  for (int64_t dim : shape) {
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim),
                               &elements)) {
      return 0;
    }
  }
  return elements;
}

template <typename Rows>
Lost RecordsIn(const Rows& rows, uint64_t Lost::*count) {
  Lost records;
  for (const auto* row : rows) {
    Lost one;
    one.*count = 1;
    one.first_step = one.last_step = row->step;
    records.Add(one);
  }
  return records;
}

Outgoing MakeOpNames(const v1::OpNames& names) {
  return {.kind = v1::IngestRequest::kOpNames,
          .body = names.SerializeAsString(),
          .records = {},
          .first_op = names.first_index()};
}

}  // namespace

void Batcher::TakeRows() {
  steps_.clear();
  ops_.clear();
  const uint32_t known = shared_.names.ops();
  Frame frame;
  while (steps_.size() + ops_.size() < kRowsPerTurn &&
         shared_.ring.Next(&frame)) {
    if (frame.kind == FrameKind::kStep) {
      steps_.push_back(reinterpret_cast<const nanwatch_step*>(frame.data));
      continue;
    }
    const auto* op = reinterpret_cast<const nanwatch_op_status*>(frame.data);
    if (static_cast<uint32_t>(op->op) < known) {
      ops_.push_back(op);
    } else {
      Lost one;
      one.ops = 1;
      LoseRefused(one, op->step,
                  "the daemon has no room for the op that it is of");
    }
  }
}

// `lost` is one record, which would have the whole batch refused.
void Batcher::LoseRefused(Lost lost, int64_t step, std::string why) {
  const bool possible = step >= 0 && step <= kStepMost;
  lost.first_step = lost.last_step = possible ? step : newest_step_;
  shared_.gap.Add(lost);
  std::lock_guard lock(shared_.mutex);
  shared_.mistake = "a record of step " + std::to_string(step) +
                    " was left out: " + std::move(why);
  shared_.refused.fetch_add(1, std::memory_order_relaxed);
  shared_.changed.notify_all();
}

void Batcher::LoseWrongRows() {
  std::erase_if(ops_, [this](const nanwatch_op_status* row) {
    const auto op = static_cast<size_t>(row->op);
    const uint64_t shape = op < op_elements_.size() ? op_elements_[op] : 0;
    const std::string wrong = WhatIsWrong(*row, shape);
    if (wrong.empty()) return false;
    v1::OpNames name;
    shared_.names.Copy(static_cast<uint32_t>(op), 1, &name);
    Lost one;
    one.ops = 1;
    LoseRefused(
        one, row->step,
        "the status of " + CleanUtf8(name.ops(0).name(), 80) + " " + wrong);
    return true;
  });
  std::erase_if(steps_, [this](const nanwatch_step* row) {
    const std::string wrong = WhatIsWrong(*row, optimizers_.size());
    if (wrong.empty()) {
      newest_step_ = row->step;
      return false;
    }
    Lost one;
    one.steps = 1;
    LoseRefused(one, row->step, "it " + wrong);
    return true;
  });
}

void Batcher::Drain(int64_t now_us, Outbox* outbox) {
  TakeRows();
  // After the rows: a row's op was named before the row was pushed.
  TakeNames(outbox);
  LoseWrongRows();
  PushOps(now_us, outbox);
  PushSteps(now_us, outbox);
  shared_.ring.Release();
  PushLost(outbox);
}

void Batcher::TakeNames(Outbox* outbox) {
  const uint32_t given = shared_.names.given();
  if (given == given_taken_) return;
  optimizers_ = shared_.names.optimizers();
  // More of what there is no room for: on another stream, perhaps.
  if (shared_.names.refused()) return;
  given_taken_ = given;
  for (;;) {
    v1::OpNames names;
    const uint32_t taken =
        shared_.names.Copy(op_names_taken_, kNamesPerMessage, &names);
    if (taken == 0) return;
    for (const v1::OpName& op : names.ops()) {
      op_elements_.push_back(Elements(op));
    }
    op_names_taken_ += taken;
    outbox->Push(MakeOpNames(names));
  }
}

void Batcher::ResendOpNames(uint32_t first, uint32_t end, Outbox* outbox) {
  // Backwards, since each goes before all others.
  while (end > first) {
    const uint32_t begin =
        end - first > kNamesPerMessage ? end - kNamesPerMessage : first;
    v1::OpNames names;
    shared_.names.Copy(begin, end - begin, &names);
    outbox->PushFront(MakeOpNames(names));
    end = begin;
  }
}

void Batcher::PushOps(int64_t now_us, Outbox* outbox) {
  OpRows rows(ops_);
  while (!rows.empty()) {
    const OpRows batch = rows.first(OpBatchRows(rows, limits_.ops));
    rows = rows.subspan(batch.size());
    outbox->Push(
        {.kind = v1::IngestRequest::kOps,
         .body = EncodeOps(batch, op_elements_, now_us).SerializeAsString(),
         .records = RecordsIn(batch, &Lost::ops)});
  }
}

void Batcher::PushSteps(int64_t now_us, Outbox* outbox) {
  StepRows rows(steps_);
  while (!rows.empty()) {
    const StepRows batch = rows.first(StepBatchRows(rows, limits_.steps));
    rows = rows.subspan(batch.size());
    outbox->Push(
        {.kind = v1::IngestRequest::kSteps,
         .body = EncodeSteps(batch, optimizers_, now_us).SerializeAsString(),
         .records = RecordsIn(batch, &Lost::steps)});
  }
}

void Batcher::PushLost(Outbox* outbox) {
  const Lost lost = shared_.gap.Take();
  if (lost.records() == 0) return;
  v1::Dropped dropped;
  dropped.set_steps(lost.steps);
  dropped.set_ops(lost.ops);
  dropped.set_first_step(lost.first_step);
  dropped.set_last_step(lost.last_step);
  outbox->Push({.kind = v1::IngestRequest::kDropped,
                .body = dropped.SerializeAsString()});
}

}  // namespace nanwatch_client
