#include "wire/message_weight.h"

#include <variant>

namespace nanwatch {

size_t WeightOf(const ClientMessage& message) {
  size_t weight = sizeof(ClientMessage);
  if (const auto* steps = std::get_if<StepBatch>(&message.body)) {
    const StepColumns& columns = steps->columns;
    size_t row = sizeof(int64_t) + sizeof(Time);
    for (const auto& field : columns.field) {
      if (field) row += sizeof(double);
    }
    weight += columns.rows() * row +
              columns.replica_digest.size() * sizeof(uint64_t) +
              columns.float_status.size() * sizeof(FloatStatus) +
              columns.layer_scales.size() * sizeof(LayerScale) +
              columns.update_facts.size() * sizeof(UpdateFacts) +
              columns.samples.size() * sizeof(SampleRange) +
              columns.batch_digests.size() * sizeof(BatchDigest);
  } else if (const auto* ops = std::get_if<OpBatch>(&message.body)) {
    const OpColumns& columns = ops->columns;
    size_t row = sizeof(uint64_t) + sizeof(uint32_t) + 1;
    for (const auto& stat : columns.stat) {
      if (stat) row += sizeof(float);
    }
    weight += columns.rows() * row + columns.groups.size() * sizeof(OpGroup) +
              columns.digest.size() * sizeof(uint64_t) +
              columns.sketches.values.size() * sizeof(float);
    for (const auto& count : columns.count) {
      if (count) weight += count->rows.size() * 12;
    }
    for (const ExponentCounts& one : columns.exponents) {
      weight += sizeof(one) + one.counts.size() * sizeof(uint64_t);
    }
  } else if (const auto* names = std::get_if<OpNamesAdded>(&message.body)) {
    for (const OpName& op : names->names.ops) {
      weight += sizeof(op) + op.name.size() + op.type.size() +
                8 * (op.logical_shape.size() + op.storage_shape.size());
    }
  }
  return weight;
}

}  // namespace nanwatch
