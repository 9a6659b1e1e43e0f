// OpDebugReader: what CANN's overflow check wrote of one overflow, as JSON:
// Opdebug.Node_OpDebug.TASK.STREAM.TIME.output.0.json. The ids in the file's
// name are the check's own, those within are the op's.

#ifndef NANWATCH_DUMPS_OP_DEBUG_H_
#define NANWATCH_DUMPS_OP_DEBUG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dumps/json_scan.h"

namespace nanwatch {

inline constexpr std::string_view kOpDebugMark = "Opdebug.Node_OpDebug.";

// One unit of the device that found an overflow.
struct OpOverflow {
  std::string unit;     // "AI Core", "DHA Atomic Add", "AIC", "SDMA", ...
  int64_t stream = -1;  // -1: not said
  int64_t task = -1;
  uint64_t status = 0;  // of several words: their bits together
};

// Says what the bits mean, "floating point, FP32 to FP16"; "" : not known.
std::string MeaningOf(const OpOverflow& overflow);

class OpDebugReader : private JsonListener {
 public:
  // An error is a part of a sentence.
  Status Feed(std::string_view bytes) { return scan_.Feed(bytes); }
  // Returns the units whose status is not 0.
  Result<std::vector<OpOverflow>> Finish();

 private:
  void OnBegin(bool is_object) override;
  void OnEnd() override;
  void OnKey(std::string_view key) override;
  void OnText(std::string_view text) override;
  void OnNumber(double value, std::string_view digits) override;
  void OnBool(bool) override {}
  void OnNull() override {}

  struct Level {
    bool is_object = false;
    std::string key;
    OpOverflow unit;
    bool has_status = false;
    std::string type;  // "acc_type" beside the object
  };

  JsonScan scan_{this};
  std::vector<Level> levels_;
  std::vector<OpOverflow> found_;
  bool has_units_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_OP_DEBUG_H_
