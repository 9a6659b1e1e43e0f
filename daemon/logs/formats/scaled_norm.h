// ScaledNorm: whether a program prints gradient norms as they are or still
// multiplied by the loss scale (Megatron-DeepSpeed did, until DeepSpeed
// unscaled them; the line does not say). How high they are does not show it,
// since both kinds may be; how they move where the scale moves does.

#ifndef NANWATCH_LOGS_FORMATS_SCALED_NORM_H_
#define NANWATCH_LOGS_FORMATS_SCALED_NORM_H_

#include <cstdint>
#include <optional>

namespace nanwatch {

class ScaledNorm {
 public:
  // The norm in one unit throughout: as it is printed at the log's first scale,
  // so that a level does not jump where it is found out. `scale` as printed;
  // nullopt: unknown. Lines in the order of the log. nullopt: it cannot be told
  // (yet) which of the two is printed, the scale is another, and the norm is
  // so high that it asks.
  std::optional<double> Unscaled(double norm, std::optional<double> scale);

 private:
  enum class Print : uint8_t { kNotKnown, kAsItIs, kScaled };
  void Learn(double log_norm, double log_scale);
  void Judge(double norm_moved, double scale_moved);

  Print print_ = Print::kNotKnown;  // decided once, for good
  // Log of how much likelier the moves so far make it that it is scaled.
  double evidence_ = 0;
  double noise_ = 0.3;  // usual |log| from line to line while the scale stands
  bool begun_ = false;
  double first_scale_ = 0;
  double log_scale_ = 0;  // of the newest line
  double log_norm_ = 0;
  // Of the newest line before the scale began to move; the move is judged
  // behind it, as a line may show the scale of before its norm, or after.
  double norm_before_ = 0;
  double scale_before_ = 0;
  bool moving_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FORMATS_SCALED_NORM_H_
