// The loss scalers that exist, as data: what each framework's scaler does when
// nobody changed its parameters.

#ifndef NANWATCH_SCALER_CATALOG_H_
#define NANWATCH_SCALER_CATALOG_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace nanwatch {

enum class Growth : uint8_t {
  kConsecutive,  // after `growth_interval` updates in a row without overflow
  kVarying,      // the same, but the scaler changes its interval by itself
  kStatistical,  // follows gradient statistics: any transition can be
  kEither,       // the same, but each update grows or falls by one factor
  kNever,        // a fixed scale
};
// Nobody knows the next scale.
constexpr bool FollowsStatistics(Growth growth) {
  return growth == Growth::kStatistical || growth == Growth::kEither;
}
enum class Hysteresis : uint8_t {
  kNone,         // every overflow backs off
  kUntilGrowth,  // the first count - 1 overflows are forgiven; only a growth
                 // forgives anew. Clean updates do not.
  kConsecutive,  // as kUntilGrowth, but any clean update forgives anew
  kCumulative,   // every count-th overflow since the last change backs off
};
enum class AtFloor : uint8_t {
  kNoFloor,  // falls on, below 1 and to 0
  kClamps,   // stays there, in silence
  kRaises,   // the training ends with an exception
};

enum class AtCeiling : uint8_t {
  kRefuses,  // a growth beyond it does not happen
  kClamps,   // it grows as far as there
};

struct ScalerSpec {
  std::string_view name;   // as a run declares it, e.g. "pytorch"
  std::string_view title;  // for people
  double init;             // 0: the user must give one
  double growth_factor;
  int64_t growth_interval;  // updates; 0: the user must give one
  Growth growth;
  double backoff_factor;
  Hysteresis hysteresis;
  int32_t hysteresis_count;  // overflows until the first backoff
  double floor;              // 0: none
  double ceiling;            // +infinity: none
  AtFloor at_floor;
  std::string_view source;  // where these numbers stand
  AtCeiling at_ceiling = AtCeiling::kRefuses;
  // Part of one training program: nobody else's moves are taken for its.
  bool of_one_program = false;
  // A scale for each block of a tensor: such are not read.
  bool of_blocks = false;
};

// Every scaler, those that are met most come first.
std::span<const ScalerSpec> AllScalers();

// By name or alias ("gradscaler", "torch_npu", "lossscaleoptimizer", ...),
// without regard to case, '-' or '_'. Null: not one that we know.
const ScalerSpec* FindScaler(std::string_view name);

// The scaler of a training program, named as RunDescription::framework: its own
// or that of the library it uses where nobody says otherwise. The library that
// scales stands last: "gnmt+apex". Null: not known.
const ScalerSpec* ScalerOfProgram(std::string_view framework);

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_CATALOG_H_
