// StepPacker: step records to the columns of a batch.

#ifndef NANWATCH_APP_STEP_PACKER_H_
#define NANWATCH_APP_STEP_PACKER_H_

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
  StepColumns columns_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_STEP_PACKER_H_
