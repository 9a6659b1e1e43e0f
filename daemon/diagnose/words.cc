#include "diagnose/words.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "diagnose/op_facts.h"
#include "model/op.h"
#include "model/scale_bound.h"

namespace nanwatch {
namespace {

// Returns "65504", "8.6e+09": two digits of what is large.
std::string Rounded(double value) {
  constexpr double kLarge = 1e6;  // ours
  return value < kLarge ? fmt::format("{:.0f}", value)
                        : fmt::format("{:.2g}", value);
}

}  // namespace

std::string InWords(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (BoundOf(value)) return "0 as printed";
  constexpr double kInFull = 1e10;  // ours: 2^32, where scales begin, is
  if (value == std::floor(value) && std::abs(value) < kInFull) {
    return fmt::format("{:.0f}", value);
  }
  return fmt::format("{:.4g}", value);
}

std::string CountOf(uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

bool LeavesStepsOut(const RunEvidence& evidence) {
  return evidence.steps_between || evidence.steps_counted;
}

std::string RecordInWords(bool of_epochs, bool leaves_steps_out,
                          std::string_view one) {
  if (of_epochs) return "epoch";
  return std::string(leaves_steps_out ? "recorded " : "").append(one);
}

std::string StepInWords(const RunEvidence& evidence) {
  return RecordInWords(evidence.of_epochs, LeavesStepsOut(evidence));
}

std::string StepsInWords(const RunEvidence& evidence) {
  return StepInWords(evidence) + 's';
}

std::string_view StepsOverflowed(const RunEvidence& evidence) {
  return evidence.steps_between   ? "recorded steps show overflows"
         : evidence.steps_counted ? "recorded steps overflowed"
                                  : "steps overflowed";
}

std::string PercentOf(uint64_t part, uint64_t all) {
  const double percent =
      all == 0 ? 0
               : 100.0 * static_cast<double>(part) / static_cast<double>(all);
  // Two digits, and never 1e+02.
  return percent < 9.95 ? fmt::format("{:.2g} %", percent)
                        : fmt::format("{:.0f} %", percent);
}

std::string InWords(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::string InWords(const OpName& op) {
  if (op.type.empty() || op.type == op.name) return op.name;
  return op.type + " (" + op.name + ")";
}

std::string WhenBad(const OpEvidence& op) {
  if (!BadAtEveryUpdate(op)) {
    // Updates count from the first bad one.
    return fmt::format("at {} of {} steps since step {}", op.bad_updates,
                       op.updates, op.first_bad_step);
  }
  // Steps are counted from 0 or 1: else it was not so from the beginning.
  const std::string when =
      op.first_bad_step <= 1
          ? "at every step"
          : fmt::format("at every step since step {}", op.first_bad_step);
  if (!op.scale_min || !op.scale_max) return when;
  if (*op.scale_min == *op.scale_max) {
    return when + ", at the scale " + InWords(*op.scale_min);
  }
  return when + " and at every scale from " + InWords(*op.scale_max) + " to " +
         InWords(*op.scale_min);
}

std::string WhatOverflows(double scale, std::string_view at,
                          std::string_view it) {
  constexpr double kLeast = 0x1p-30;  // a scale; ours
  if (scale < kLeast) return "";
  return fmt::format(
      "Only a value above {} before scaling, or one that is itself infinite or "
      "NaN, overflows {}: {} is not the reason.",
      Rounded(MaxFinite(Dtype::kFp16) / scale), at, it);
}

std::string OptimizerInWords(std::string_view name) {
  const bool loss = name.ends_with("loss") || name.ends_with("Loss") ||
                    name.ends_with("LOSS");
  return std::string(loss ? "" : "optimizer ").append(name);
}

std::string OfOptimizer(const RunEvidence& evidence) {
  const std::string_view name = evidence.optimizer;
  if (name.empty()) return "";
  const std::string words = OptimizerInWords(name);
  return words == name ? " of " + words : " of the " + words;
}

std::string UpdatesInWords(const RunEvidence& evidence) {
  const uint64_t all = evidence.updates_last_50;
  const uint64_t skipped = evidence.skipped_last_50;
  if (skipped == 0) return "";
  if (evidence.steps_between) {
    return fmt::format(
        "{} of the last {} recorded steps show skipped updates{}", skipped, all,
        OfOptimizer(evidence));
  }
  if (skipped == all) {
    return fmt::format(
        "No update{} is applied any more: {} of the last {} were skipped",
        OfOptimizer(evidence), skipped, all);
  }
  return fmt::format("{} of the last {} {}updates{} were skipped", skipped, all,
                     evidence.steps_counted ? "recorded " : "",
                     OfOptimizer(evidence));
}

}  // namespace nanwatch
