#include "engine/step_slice.h"

#include <vector>

namespace nanwatch {
namespace {

template <typename T>
std::vector<T> Slice(const std::vector<T>& all, size_t from, size_t to) {
  if (all.empty()) return {};
  return std::vector<T>(all.begin() + from, all.begin() + to);
}

Bitmap SliceBits(const Bitmap& all, size_t from, size_t to) {
  if (all.empty()) return {};
  Bitmap bits((to - from + 7) / 8);
  for (size_t row = from; row < to; ++row) {
    if (!TestBit(all, row)) continue;
    bits[(row - from) / 8] |= static_cast<uint8_t>(1u << ((row - from) % 8));
  }
  return bits;
}

template <typename T>
std::vector<T> SliceSparse(const std::vector<T>& all, size_t from, size_t to) {
  std::vector<T> kept;
  for (const T& entry : all) {
    if (entry.row < from || entry.row >= to) continue;
    kept.push_back(entry);
    kept.back().row -= static_cast<uint32_t>(from);
  }
  return kept;
}

}  // namespace

StepColumns SliceRows(const StepColumns& all, size_t from, size_t to) {
  StepColumns part;
  part.step = Slice(all.step, from, to);
  part.time = Slice(all.time, from, to);
  for (int f = 0; f < kStepFields; ++f) {
    if (!all.field[f]) continue;
    part.field[f] = Column{.values = Slice(all.field[f]->values, from, to),
                           .absent = SliceBits(all.field[f]->absent, from, to)};
  }
  for (int f = 0; f < kStepFlags; ++f) {
    if (!all.flag[f]) continue;
    part.flag[f] =
        FlagColumn{.values = SliceBits(all.flag[f]->values, from, to),
                   .absent = SliceBits(all.flag[f]->absent, from, to)};
  }
  part.optimizers = all.optimizers;
  part.optimizer = Slice(all.optimizer, from, to);
  part.replica_digest = Slice(all.replica_digest, from, to);
  part.float_status = SliceSparse(all.float_status, from, to);
  part.layer_scales = SliceSparse(all.layer_scales, from, to);
  part.update_facts = SliceSparse(all.update_facts, from, to);
  part.samples = SliceSparse(all.samples, from, to);
  part.batch_digests = SliceSparse(all.batch_digests, from, to);
  part.request_id = all.request_id;
  part.seen = all.seen;
  return part;
}

}  // namespace nanwatch
