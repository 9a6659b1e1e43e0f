// Precheck: what a training says of itself before its first step, judged alone.

#ifndef NANWATCH_COMPARE_PRECHECK_H_
#define NANWATCH_COMPARE_PRECHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/run.h"

namespace nanwatch {

enum class RemarkWeight : uint8_t {
  kWrong,  // its numbers will suffer
  kMay     // repeats or other machines may give other numbers
};

struct Remark {
  RemarkWeight weight = RemarkWeight::kMay;
  std::string key;     // of the setting
  std::string what;    // a sentence
  std::string advice;  // a sentence
};

// What is wrong comes first. A setting that was not read is not judged.
std::vector<Remark> JudgeSettings(const RunDescription& run);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_PRECHECK_H_
