// Run: one attempt of a training job, and what it says of itself.

#ifndef NANWATCH_MODEL_RUN_H_
#define NANWATCH_MODEL_RUN_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

// (run_id, attempt): attempts count from 0.
struct RunKey {
  std::string run_id;
  int32_t attempt = 0;
  auto operator<=>(const RunKey&) const = default;
};

// How the device shows an overflow. Saturation: results clamp to +-max and NaN
// to 0, only the float status tells. A finite loss then proves nothing.
enum class OverflowMode : uint8_t { kUnknown, kInfNan, kSaturation };

enum class ScalingKind : uint8_t {
  kUnknown,    // not said: recognised from the transitions where possible
  kNone,       // no loss scaling (fp32, bf16): scale absent is not scale 1
  kStatic,     // one fixed scale
  kDynamic,    // `name` says which scaler
  kLayerwise,  // one scale a layer
};

// What the client declares of its loss scaler. Absent numbers are the named
// scaler's defaults (scaler/catalog.h).
struct ScalerDeclaration {
  ScalingKind kind = ScalingKind::kUnknown;
  std::string name;  // catalog name, e.g. "pytorch", "ascend_tf"; may be empty
  std::optional<double> init_scale;
  std::optional<double> growth_factor;
  std::optional<double> backoff_factor;
  std::optional<int64_t> growth_interval;  // updates
  std::optional<int64_t> hysteresis;       // overflows until the scale falls
  std::optional<double> min_scale;
  std::optional<double> max_scale;
  // False: overflowing steps are applied all the same (Ascend's
  // enable_overflow_check).
  std::optional<bool> overflow_check;
};

// What the first rank to open says; constant for the attempt.
struct RunDescription {
  std::string job;         // human name; may be empty
  std::string framework;   // e.g. "pytorch", "ascend_tf"; may be empty
  std::string precision;   // e.g. "fp16", "bf16", "fp8"; may be empty
  int32_t world_size = 1;  // ranks, >= 1
  OverflowMode overflow_mode = OverflowMode::kUnknown;
  ScalerDeclaration scaler;
  std::optional<double> clip_norm;
  std::optional<int64_t> seed;
  std::map<std::string, std::string> settings;  // precision-relevant ones
  // Said by the client when it could not find a run id though world_size > 1.
  bool run_id_guessed = false;
  // Who opened it: an account, or "uid 1000" where that has no name. The daemon
  // sets it, whatever the client says. Empty: not known.
  std::string owner;
};

// True when it says that it computes in fp16, whose range a gradient may fall
// out of.
bool HasFp16(const RunDescription& run);

// What the loss of a run had come to in the attempts before. Each level is a
// mean of about 16 finite losses.
struct LossReached {
  double first = 0;        // the first level of all
  double best = 0;         // the lowest
  double level = 0;        // the newest that was not found high
  double noise = 0;        // usual spread around a level
  int64_t records = 0;     // losses that these stand on
  int64_t level_step = 0;  // of the newest loss of `level`
  int64_t last_step = 0;   // of the newest loss
  bool high = false;       // the newest level of all was high
  bool operator==(const LossReached&) const = default;
};

std::string_view Name(OverflowMode mode);
std::string_view Name(ScalingKind kind);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_RUN_H_
