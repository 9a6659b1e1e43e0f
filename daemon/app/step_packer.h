// StepPacker: step records to the columns of a batch. A record costs what it
// holds: columns that it has no value of are filled up when the next one has.

#ifndef NANWATCH_APP_STEP_PACKER_H_
#define NANWATCH_APP_STEP_PACKER_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "model/step.h"

namespace nanwatch {

class StepPacker {
 public:
  // The numbers and flags of `record`; its float status, layer scales and
  // digest are not carried over.
  void Add(const StepRecord& record, Time time, std::string_view optimizer);
  size_t rows() const { return columns_.rows(); }
  // The batch so far; the packer is empty then.
  StepColumns Take();

 private:
  static void AddValue(size_t row, double value, std::optional<Column>* column);
  void AddFlag(size_t row, bool value, int flag);
  static void FillUp(size_t rows, Column* column);

  StepColumns columns_;  // columns of numbers may be shorter, until Take()
  std::array<size_t, kStepFlags> flag_rows_{};  // of each flag's column so far
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_STEP_PACKER_H_
