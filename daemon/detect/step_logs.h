// StepLogs: logarithms of all losses and gradient norms of a batch, taken side
// by side. One by one each record would wait for the division in its own.

#ifndef NANWATCH_DETECT_STEP_LOGS_H_
#define NANWATCH_DETECT_STEP_LOGS_H_

#include <cstddef>
#include <vector>

#include "model/step.h"

namespace nanwatch {

// As Series::LogOf. What the record has no number of means nothing.
struct RecordLogs {
  float loss = 0;
  float grad_norm = 0;
};

class StepLogs {
 public:
  void Take(const StepColumns& columns);
  RecordLogs Of(size_t row) const {
    return {row < loss_.size() ? loss_[row] : 0,
            row < grad_norm_.size() ? grad_norm_[row] : 0};
  }

 private:
  std::vector<float> loss_;
  std::vector<float> grad_norm_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_STEP_LOGS_H_
