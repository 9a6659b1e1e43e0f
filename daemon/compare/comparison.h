// Compare: two recorded runs side by side.

#ifndef NANWATCH_COMPARE_COMPARISON_H_
#define NANWATCH_COMPARE_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/batch_diff.h"
#include "compare/compared_run.h"
#include "compare/divergence.h"
#include "compare/floors.h"
#include "compare/loss_diff.h"
#include "compare/setting_diff.h"

namespace nanwatch {

// The first tensor that is not equal to the bit, where none lies apart.
struct BitsPart {
  int64_t step = 0;
  std::string op;
  Slot slot = Slot::kOutput;
  std::optional<double> distance;
};

struct Comparison {
  std::vector<SettingDiff> settings;
  LossDiff loss;
  BatchDiff batches;
  std::vector<int64_t> tensor_steps;  // of which tensors were compared
  size_t tensors = 0;                 // that were compared
  size_t only_a = 0;                  // at the steps compared
  size_t only_b = 0;
  // A batch is computed in other parts: its tensors are not compared.
  bool other_layout = false;
  std::optional<Divergence> first;
  std::optional<BitsPart> bits;
  // As a share of a tensor's norm: what lies apart by less, where the walk
  // ended, would not be seen. Absent: no tensors were compared.
  std::optional<double> unseen;

  // Something that both have.
  bool comparable() const { return loss.steps > 0 || tensors > 0; }
};

// `floors`: of repeats of a's program; null: none were made.
Comparison Compare(const ComparedRun& a, const ComparedRun& b,
                   const Floors* floors = nullptr);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_COMPARISON_H_
