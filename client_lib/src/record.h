// A pushed record as it lies in the ring: the struct of nanwatch.h, and behind
// it what it points to. In the header, since every push goes through here.

#ifndef NANWATCH_CLIENT_RECORD_H_
#define NANWATCH_CLIENT_RECORD_H_

#include <nanwatch.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace nanwatch_client {

// Beyond, the rest is left out.
inline constexpr size_t kLayerScalesPerRecord = 4096;

// The kernel's tick, 1 to 10 ms: 5 ns, and never a system call, which the exact
// clock is on machines without a stable TSC.
inline int64_t CoarseNowUs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

// ---------------------------------------------------------------------- steps

// An overflow or a non-finite value: it does not wait for a batch to fill.
inline bool IsUrgent(const nanwatch_step& step) {
  const auto bad = [&step](uint32_t bit, double value) {
    return (step.present & bit) != 0 && !std::isfinite(value);
  };
  return ((step.present & NANWATCH_STEP_OVERFLOW) != 0 && step.overflow != 0) ||
         bad(NANWATCH_STEP_LOSS, step.loss) ||
         bad(NANWATCH_STEP_GRAD_NORM, step.grad_norm);
}

inline size_t LayerScalesOf(const nanwatch_step& step) {
  return step.layer_scales == nullptr
             ? 0
             : std::min(step.layer_scales_count, kLayerScalesPerRecord);
}

inline size_t RecordBytes(const nanwatch_step& step) {
  return sizeof step + LayerScalesOf(step) * sizeof(nanwatch_layer_scale);
}

// `room` has RecordBytes. Scales of ops from `ops` on are left out: one unknown
// op would have the whole batch refused.
inline void CopyRecord(const nanwatch_step& step, uint32_t ops, char* room) {
  auto* copy = new (room) nanwatch_step(step);
  if (copy->time_us == 0) copy->time_us = CoarseNowUs();
  auto* scales =
      reinterpret_cast<nanwatch_layer_scale*>(room + sizeof(nanwatch_step));
  const size_t given = LayerScalesOf(step);
  copy->layer_scales = scales;
  copy->layer_scales_count = 0;
  for (size_t i = 0; i < given; ++i) {
    if (static_cast<uint32_t>(step.layer_scales[i].op) >= ops) continue;
    scales[copy->layer_scales_count++] = step.layer_scales[i];
  }
}

// ---------------------------------------------------------------- op statuses

inline bool IsUrgent(const nanwatch_op_status& status) {
  const auto some = [&status](uint32_t bit, uint64_t count) {
    return (status.present & bit) != 0 && count != 0;
  };
  return some(NANWATCH_OP_NAN, status.nan) ||
         some(NANWATCH_OP_POS_INF, status.pos_inf) ||
         some(NANWATCH_OP_NEG_INF, status.neg_inf);
}

// Bytes of the counts that lie in the ring: not the whole fixed array.
inline size_t ExponentBytes(const nanwatch_exponents* exponents) {
  if (exponents == nullptr) return 0;
  const size_t size = std::min<size_t>(exponents->size, NANWATCH_EXPONENT_BINS);
  return offsetof(nanwatch_exponents, counts) + size * sizeof(uint64_t);
}

// A multiple of 8: counts of exponents lie behind it.
inline constexpr size_t kSketchBytes = NANWATCH_SKETCH_SUMS * sizeof(float);
inline size_t SketchBytes(const nanwatch_op_status& status) {
  return status.sketch == nullptr ? 0 : kSketchBytes;
}

inline size_t RecordBytes(const nanwatch_op_status& status) {
  return sizeof status + SketchBytes(status) + ExponentBytes(status.exponents);
}

inline void CopyRecord(const nanwatch_op_status& status, char* room) {
  auto* copy = new (room) nanwatch_op_status(status);
  if (copy->time_us == 0) copy->time_us = CoarseNowUs();
  if (status.sketch != nullptr) {
    memcpy(room + sizeof status, status.sketch, kSketchBytes);
    copy->sketch = reinterpret_cast<float*>(room + sizeof status);
  }
  const size_t bytes = ExponentBytes(status.exponents);
  if (bytes == 0) return;
  char* exponents = room + sizeof status + SketchBytes(status);
  memcpy(exponents, status.exponents, bytes);
  copy->exponents = reinterpret_cast<nanwatch_exponents*>(exponents);
  copy->exponents->size =
      std::min<uint32_t>(copy->exponents->size, NANWATCH_EXPONENT_BINS);
}

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_RECORD_H_
