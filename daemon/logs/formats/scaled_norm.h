// ScaledNorm: whether a program prints gradient norms as they are or still
// multiplied by the loss scale (Megatron-DeepSpeed did, until DeepSpeed
// unscaled them; the line does not say).

#ifndef NANWATCH_LOGS_FORMATS_SCALED_NORM_H_
#define NANWATCH_LOGS_FORMATS_SCALED_NORM_H_

#include <optional>

namespace nanwatch {

class ScaledNorm {
 public:
  // The unscaled norm. nullopt: it cannot be told yet, or at this line, which
  // of the two was printed. `scale` as printed; nullopt: unknown.
  std::optional<double> Unscaled(double norm, std::optional<double> scale);

 private:
  // Norms of training lie within a few powers of ten around 1: so much nearer
  // to it (in log, summed over the lines) is norm / scale than norm.
  double evidence_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FORMATS_SCALED_NORM_H_
