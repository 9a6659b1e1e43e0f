#include "client_lib/src/checks.h"

#include <algorithm>
#include <cmath>

namespace nanwatch_client {
namespace {

struct CheckedCount {
  uint32_t bit;
  uint64_t nanwatch_op_status::*value;
  const char* name;
};
constexpr CheckedCount kCheckedCounts[] = {
    {NANWATCH_OP_NAN, &nanwatch_op_status::nan, "NaN"},
    {NANWATCH_OP_POS_INF, &nanwatch_op_status::pos_inf, "+Infinity"},
    {NANWATCH_OP_NEG_INF, &nanwatch_op_status::neg_inf, "-Infinity"},
    {NANWATCH_OP_SATURATED, &nanwatch_op_status::saturated, "saturated"},
    {NANWATCH_OP_ZERO, &nanwatch_op_status::zero, "zeros"},
    {NANWATCH_OP_SUBNORMAL, &nanwatch_op_status::subnormal, "subnormals"},
};

struct Share {
  uint32_t bit;
  double nanwatch_step::*value;
  const char* name;
};
constexpr Share kShares[] = {
    {NANWATCH_STEP_ZERO_FRACTION, &nanwatch_step::zero_fraction,
     "zero_fraction"},
    {NANWATCH_STEP_UNDERFLOW_FRACTION, &nanwatch_step::underflow_fraction,
     "underflow_fraction"},
};

constexpr int64_t kLowestExponent = -1074;  // of fp64
constexpr int64_t kHighestExponent = 1023;

template <typename Record>
std::string WrongPlace(const Record& record) {
  if (record.step < 0 || record.step > kStepMost) {
    return "has a step beyond 0 .. 2^53";
  }
  if (record.time_us < 0 || record.time_us > kTimeMostUs) {
    return "has a time beyond 1970 .. 9999: give Unix time in microseconds";
  }
  return {};
}

std::string TooMany(uint64_t count, const std::string& what, uint64_t of) {
  return "counts " + std::to_string(count) + " " + what +
         ", more than its other counts leave of " + std::to_string(of) +
         " elements";
}

// `most` is UINT64_MAX where the elements are not known.
std::string WrongExponents(const nanwatch_exponents& exponents, uint64_t most) {
  const int64_t last = int64_t{exponents.first} + exponents.size - 1;
  if (exponents.first < kLowestExponent || last > kHighestExponent) {
    return "has exponents from " + std::to_string(exponents.first) + " to " +
           std::to_string(last) + ", beyond those of fp64";
  }
  uint64_t left = most;
  for (uint32_t i = 0; i < exponents.size; ++i) {
    const uint64_t count = exponents.counts[i];
    if (count > left) return TooMany(count, "of an exponent", most);
    left -= count;
  }
  return {};
}

bool IsFinite(const float* sketch) {
  return std::all_of(sketch, sketch + NANWATCH_SKETCH_SUMS,
                     [](float sum) { return std::isfinite(sum); });
}

}  // namespace

std::string WhatIsWrong(const nanwatch_step& step, size_t optimizers) {
  if (std::string wrong = WrongPlace(step); !wrong.empty()) return wrong;
  if (step.optimizer < 0 || static_cast<size_t>(step.optimizer) > optimizers) {
    return "is of optimizer " + std::to_string(step.optimizer) + ", of " +
           std::to_string(optimizers) +
           " that nanwatch_optimizer_register named";
  }
  if ((step.present & NANWATCH_STEP_FLOAT_STATUS) != 0 &&
      step.float_status_words != 1 && step.float_status_words != 8) {
    return "has a float status of " + std::to_string(step.float_status_words) +
           " words: there are 1 or 8";
  }
  for (const Share& share : kShares) {
    if ((step.present & share.bit) == 0) continue;
    const double value = step.*share.value;  // NaN is what 0 of 0 are
    if (value < 0 || value > 1) {
      return std::string("has ") + share.name + " " + std::to_string(value) +
             ", which is a share: 0 .. 1";
    }
  }
  return {};
}

std::string WhatIsWrong(const nanwatch_op_status& status, uint64_t shape) {
  if (std::string wrong = WrongPlace(status); !wrong.empty()) return wrong;
  // 0 elements of a status are none; of a shape, an unknown number.
  const bool told = (status.present & NANWATCH_OP_ELEMENTS) != 0;
  const uint64_t most = told         ? status.elements
                        : shape != 0 ? shape
                                     : UINT64_MAX;
  uint64_t left = most;
  for (const CheckedCount& count : kCheckedCounts) {
    if ((status.present & count.bit) == 0) continue;
    const uint64_t value = status.*count.value;
    if (value > left) return TooMany(value, count.name, most);
    left -= value;
  }
  if (status.sketch != nullptr && !IsFinite(status.sketch)) {
    return "has a sketch that is not finite";
  }
  if (status.exponents == nullptr) return {};
  return WrongExponents(*status.exponents, most);
}

}  // namespace nanwatch_client
