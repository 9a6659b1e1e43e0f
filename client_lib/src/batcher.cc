#include "client_lib/src/batcher.h"

#include <algorithm>
#include <utility>

#include "client_lib/src/op_batch.h"
#include "client_lib/src/step_batch.h"

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

Outgoing MakeOpNames(uint32_t first, const std::vector<v1::OpName>& all,
                     uint32_t end) {
  v1::OpNames names;
  names.set_first_index(first);
  for (uint32_t i = first; i < end; ++i) *names.add_ops() = all[i];
  return {.kind = v1::IngestRequest::kOpNames,
          .body = names.SerializeAsString(),
          .records = {},
          .first_op = first};
}

}  // namespace

void Batcher::TakeRows() {
  steps_.clear();
  ops_.clear();
  Frame frame;
  while (steps_.size() + ops_.size() < kRowsPerTurn &&
         shared_.ring.Next(&frame)) {
    if (frame.kind == FrameKind::kStep) {
      steps_.push_back(reinterpret_cast<const nanwatch_step*>(frame.data));
    } else {
      ops_.push_back(reinterpret_cast<const nanwatch_op_status*>(frame.data));
    }
  }
}

void Batcher::Drain(int64_t now_us, Outbox* outbox) {
  TakeRows();
  // After the rows: a row's op was named before the row was pushed.
  TakeOpNames(outbox);
  PushOps(now_us, outbox);
  PushSteps(now_us, outbox);
  shared_.ring.Release();
  PushLost(outbox);
}

void Batcher::TakeOpNames(Outbox* outbox) {
  const uint32_t named = shared_.named.load(std::memory_order_acquire);
  if (named == named_taken_) return;
  named_taken_ = named;
  std::lock_guard lock(shared_.mutex);
  optimizers_ = shared_.optimizers;
  const auto end = static_cast<uint32_t>(shared_.op_names.size());
  while (op_names_taken_ != end) {
    const uint32_t next = std::min(end, op_names_taken_ + kNamesPerMessage);
    outbox->Push(MakeOpNames(op_names_taken_, shared_.op_names, next));
    for (; op_names_taken_ != next; ++op_names_taken_) {
      op_elements_.push_back(Elements(shared_.op_names[op_names_taken_]));
    }
  }
}

void Batcher::ResendOpNames(uint32_t first, uint32_t end, Outbox* outbox) {
  std::lock_guard lock(shared_.mutex);
  // Backwards, since each goes before all others.
  while (end > first) {
    const uint32_t begin =
        end - first > kNamesPerMessage ? end - kNamesPerMessage : first;
    outbox->PushFront(MakeOpNames(begin, shared_.op_names, end));
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
