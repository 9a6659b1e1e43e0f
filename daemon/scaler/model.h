// ScalerModel: one small model of every loss scaler in the catalog. Given
// overflow or not, it says the next scale; given two scales, whether the scaler
// could ever have gone from one to the other.

#ifndef NANWATCH_SCALER_MODEL_H_
#define NANWATCH_SCALER_MODEL_H_

#include <cstdint>
#include <optional>

#include "model/run.h"
#include "scaler/catalog.h"

namespace nanwatch {

// A scaler with every number resolved.
struct ScalerParameters {
  double init = 0;  // 0: not known
  double growth_factor = 2;
  double backoff_factor = 0.5;
  double floor = 0;             // 0: none
  double ceiling = 0;           // 0: none
  int64_t growth_interval = 0;  // 0: not known
  int32_t hysteresis_count = 1;
  Growth growth = Growth::kConsecutive;
  Hysteresis hysteresis = Hysteresis::kNone;
  AtCeiling at_ceiling = AtCeiling::kRefuses;

  // Overflows that one backoff takes while it falls.
  int64_t OverflowsPerBackoff() const;
  // Backoffs from `scale` to `target`. REQUIRES: 0 < target.
  int64_t Backoffs(double scale, double target) const;
  // Overflows after one growth that only take it back: a scaler that rides the
  // edge has so many a growth, and is healthy.
  int64_t OverflowsPerGrowth() const;
  // The scale after a growth; `scale` itself where that is refused.
  double Grown(double scale) const;
};

// The declared numbers, else those of `spec`, else PyTorch's factors with no
// interval, floor or ceiling. `spec` may be null.
ScalerParameters Resolve(const ScalerSpec* spec,
                         const ScalerDeclaration& declaration);

// Equal but for the rounding of a log (268435460 for 2^28, 0.0001 for 2^-13).
bool SameScale(double a, double b);

// Trivially copyable.
class ScalerModel {
 public:
  explicit ScalerModel(const ScalerParameters& parameters);
  // As it stands when it has just backed off to `scale`: what it forgives
  // before a fall is used up.
  static ScalerModel BackedOff(const ScalerParameters& parameters,
                               double scale);

  double scale() const { return scale_; }
  // The scale after an update. nullopt: statistical, nobody knows.
  std::optional<double> Next(bool overflow);

  // False: the scaler could never go from `from` to `to` over one update that
  // overflowed or not, whatever came before.
  bool Possible(double from, double to, bool overflow) const;

  // Updates until `target` if `overflow_rate` of all updates overflow from
  // now on and none of them is answered by a growth. nullopt: no target (0),
  // rate 0, or a scaler that does not back off. 0: it is there.
  std::optional<int64_t> UpdatesTo(double target, double overflow_rate) const;
  std::optional<int64_t> UpdatesToFloor(double overflow_rate) const {
    return UpdatesTo(p_.floor, overflow_rate);
  }

 private:
  void OnOverflow();
  void OnGood();
  void OnVaryingGrowth();
  void OnVaryingBackoff();

  ScalerParameters p_;
  double scale_;
  int64_t good_ = 0;      // updates since the last overflow or growth
  int32_t forgiven_ = 0;  // overflows that did not back off, see Hysteresis
  // kVarying only:
  int8_t window_ = 0;  // index of the window; -1: the window of 1
  int8_t growths_ = 0;
  int8_t backoffs_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_MODEL_H_
