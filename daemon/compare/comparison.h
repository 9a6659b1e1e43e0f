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
#include "compare/overflow_diff.h"
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
  bool settings_known = false;  // of one of the runs at least
  LossDiff loss;
  BatchDiff batches;
  std::vector<int64_t> tensor_steps;  // of which tensors were compared
  size_t tensors = 0;                 // that were compared
  size_t only_a = 0;                  // at the steps compared
  size_t only_b = 0;
  // Of dumps. Compared: by the numbers that they have of a tensor. Not
  // compared: in both, as numbers of other kinds; without numbers; in files
  // that could not be read.
  size_t by_statistics = 0;
  size_t incomparable = 0;
  size_t empty = 0;
  size_t unread = 0;
  // A batch is computed in other parts: its tensors are not compared.
  bool other_layout = false;
  OverflowDiff overflows;
  std::optional<Divergence> first;
  std::optional<BitsPart> bits;
  // As a share of a tensor's norm: what lies apart by less, where the walk
  // ended, would not be seen. Absent: no tensors were compared.
  std::optional<double> unseen;
  double unseen_gradients = 0;  // the same of gradients

  // Something that both have.
  bool comparable() const {
    return loss.steps > 0 || tensors > 0 || overflows.any();
  }
};

// The tensors agree but for noise, and the losses lie far apart at a step
// behind the last of them.
bool LossesPartLater(const Comparison& c);

// `floors`: of repeats of a's program; null: none were made.
Comparison Compare(const ComparedRun& a, const ComparedRun& b,
                   const Floors* floors = nullptr);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_COMPARISON_H_
