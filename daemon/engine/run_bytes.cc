// What a run holds of the budgets over all runs.

#include "engine/run_state.h"

namespace nanwatch {
namespace {

// A node of a tree or of a hash table, beside what it holds.
constexpr size_t kNode = 96;

}  // namespace

size_t BytesHeldFor(const OpName& op) {
  // The entry in a vector that grows by doubling, and a node of the index whose
  // key says the same again.
  return 2 * sizeof(OpName) + kNode +
         2 * (op.name.size() + op.type.size() + op.data_format.size()) +
         2 * sizeof(int64_t) *
             (op.logical_shape.size() + op.storage_shape.size());
}

size_t BytesHeldFor(const RunDescription& run) {
  size_t bytes = run.job.size() + run.framework.size() + run.precision.size() +
                 run.owner.size();
  for (const auto& [name, value] : run.settings) {
    bytes += kNode + name.size() + value.size();
  }
  return bytes;
}

size_t BytesHeldFor(const RankDescription& rank) {
  return rank.host.size() + rank.device.size() + rank.device_id.size();
}

void RunState::HoldOpBytes(size_t bytes) {
  op_bytes_ += bytes;
  shared_->op_bytes += bytes;
}

void RunState::HoldRunBytes(size_t bytes, size_t before) {
  run_bytes_ += bytes - before;
  shared_->run_bytes += bytes - before;
}

}  // namespace nanwatch
