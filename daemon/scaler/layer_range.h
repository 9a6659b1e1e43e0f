// LayerRange: which loss scales suit one layer, over its attempts, in log2 of
// the scale: as if no scale had been on its gradients. So layers of different
// scales compare.

#ifndef NANWATCH_SCALER_LAYER_RANGE_H_
#define NANWATCH_SCALER_LAYER_RANGE_H_

#include <cstdint>
#include <optional>

#include "scaler/scale_fit.h"

namespace nanwatch {

// Whose a scale is.
enum class ScaleOwner : uint8_t {
  kRun,     // of all gradients
  kLayer,   // the loss scale of one layer
  kTensor,  // of one tensor in FP8: no loss scale
};
constexpr ScaleOwner Last(ScaleOwner) { return ScaleOwner::kTensor; }

// Trivially copyable. `low` is what 9 attempts of 10 need, `high` what 9 of 10
// bear; both follow the newest 64 or so.
class LayerRange {
 public:
  LayerRange() = default;
  explicit LayerRange(uint32_t op) : op_(op) {}

  // Takes in a status of an update at the scale 2^log2_scale.
  void Take(const ScaleFit& fit, float log2_scale, ScaleOwner owner);

  // An update at that scale which says nothing of its gradients, since some
  // overflowed.
  void Pass(float log2_scale, ScaleOwner owner);

  uint32_t op() const { return op_; }
  Sight sight() const { return static_cast<Sight>(sight_); }
  ScaleOwner owner() const { return static_cast<ScaleOwner>(owner_); }
  uint32_t attempts() const { return attempts_; }  // saturates
  // nullopt: not known.
  std::optional<double> low() const;
  std::optional<double> high() const;
  // Newest; nullopt: the layer has none of its own.
  std::optional<double> own_scale() const;
  // Share of its elements that its scales lost, smoothed.
  double lost() const { return lost_ / 65535.0; }
  // The same of the sum of squares that its attempts usually have, at most.
  double harm() const;
  // Attempts in a row with a scale outside the range; 255 at most.
  int below() const { return below_; }
  int above() const { return above_; }

 private:
  static constexpr int16_t kNoScale = INT16_MIN;
  void Learn(const ScaleFit& fit, float log2_scale);
  void Follow(float low, float high);
  void CountOutside(float log2_scale);
  void SetScale(float log2_scale, ScaleOwner owner);
  float ShareOfUsual(const ScaleFit& fit, float log2_scale) const;
  void Harm(float share, bool first);

  uint32_t op_ = 0;
  float low_ = 0;                 // NaN: not known
  float high_ = 0;                // NaN: not known
  int16_t own_scale_ = kNoScale;  // bits, times 128
  uint16_t spread_ = 0;           // usual distance from the bound, bits * 256
  uint16_t attempts_ = 0;
  uint16_t lost_ = 0;  // share, times 65535
  uint8_t below_ = 0;
  uint8_t above_ = 0;
  uint8_t harm_ = UINT8_MAX;  // log2 of the share, times -8
  uint8_t sight_ : 4 = 0;     // a Sight
  uint8_t owner_ : 4 = 0;     // a ScaleOwner
};
static_assert(sizeof(LayerRange) <= 24);

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_LAYER_RANGE_H_
