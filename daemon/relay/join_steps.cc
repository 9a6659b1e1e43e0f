#include "relay/join_steps.h"

#include <cstdint>
#include <vector>

namespace nanwatch {
namespace {

template <typename T>
void Join(const std::vector<T>& part, std::vector<T>* whole) {
  whole->insert(whole->end(), part.begin(), part.end());
}

// Bits of `rows` rows behind `at`; an empty bitmap is none set.
void JoinBits(const Bitmap& part, size_t rows, size_t at, Bitmap* whole) {
  if (part.empty()) return;
  whole->resize((at + rows + 7) / 8);
  for (size_t row = 0; row < rows; ++row) {
    if (!TestBit(part, row)) continue;
    (*whole)[(at + row) / 8] |= static_cast<uint8_t>(1u << ((at + row) % 8));
  }
}

template <typename T>
void JoinSparse(const std::vector<T>& part, size_t at, std::vector<T>* whole) {
  for (T entry : part) {
    entry.row += static_cast<uint32_t>(at);
    whole->push_back(entry);
  }
}

}  // namespace

void JoinSteps(const StepColumns& part, StepColumns* whole) {
  const size_t at = whole->rows();
  if (at == 0) {
    *whole = part;
    return;
  }
  Join(part.step, &whole->step);
  Join(part.time, &whole->time);
  for (int f = 0; f < kStepFields; ++f) {
    if (!part.field[f] || !whole->field[f]) continue;
    Join(part.field[f]->values, &whole->field[f]->values);
    JoinBits(part.field[f]->absent, part.rows(), at, &whole->field[f]->absent);
  }
  for (int f = 0; f < kStepFlags; ++f) {
    if (!part.flag[f] || !whole->flag[f]) continue;
    JoinBits(part.flag[f]->values, part.rows(), at, &whole->flag[f]->values);
    whole->flag[f]->values.resize((at + part.rows() + 7) / 8);
    JoinBits(part.flag[f]->absent, part.rows(), at, &whole->flag[f]->absent);
  }
  Join(part.optimizer, &whole->optimizer);
  Join(part.replica_digest, &whole->replica_digest);
  JoinSparse(part.float_status, at, &whole->float_status);
  JoinSparse(part.layer_scales, at, &whole->layer_scales);
  JoinSparse(part.update_facts, at, &whole->update_facts);
  JoinSparse(part.samples, at, &whole->samples);
  JoinSparse(part.batch_digests, at, &whole->batch_digests);
}

}  // namespace nanwatch
