// How numbers, shapes and ops are said in a sentence.

#ifndef NANWATCH_DIAGNOSE_WORDS_H_
#define NANWATCH_DIAGNOSE_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/evidence.h"

namespace nanwatch {

// Returns "65536", "4294967296", "1.1e+12", "0.8", "1.2e-05", "NaN",
// "Infinity".
std::string InWords(double value);
// Returns "1 step", "300 steps": without a separator, as sentences here have
// them.
std::string CountOf(uint64_t n, std::string_view what);
// True where steps may have no record, and what was in those nobody knows: no
// share of the records is one of the steps.
bool LeavesStepsOut(const RunEvidence& evidence);
// Returns what a record stands for: "step" (or another word for `one`);
// "recorded step" where some are left out; "epoch".
std::string RecordInWords(bool of_epochs, bool leaves_steps_out,
                          std::string_view one = "step");
std::string StepInWords(const RunEvidence& evidence);
// The same of several.
std::string StepsInWords(const RunEvidence& evidence);
// Returns "steps overflowed"; "recorded steps show overflows" where a record
// tells of the steps before it, too.
std::string_view StepsOverflowed(const RunEvidence& evidence);
// Returns "0.05 %", "1.9 %", "100 %".
std::string PercentOf(uint64_t part, uint64_t all);
// Returns "[1000, 6]".
std::string InWords(const std::vector<int64_t>& shape);
// Returns type and name: "Log" or "Log (loss/Log)".
std::string InWords(const OpName& op);
// Returns "at every step and at every scale from 4294967296 to 1", "at 3 of 9
// steps".
std::string WhenBad(const OpEvidence& op);
// Returns "What overflows at this scale is above 655 without any scaling, or
// infinite, or NaN: the scale does not make it."; empty where the scale is so
// near 0 that this says nothing more. `at`, `it`: "at this scale", "the scale".
std::string WhatOverflows(double scale, std::string_view at,
                          std::string_view it);
// Returns "optimizer D"; of a log's losses, each of which is taken for one's,
// "image_loss".
std::string OptimizerInWords(std::string_view name);
// Returns " of the optimizer D" where a run has several; else empty.
std::string OfOptimizer(const RunEvidence& evidence);
// Returns "No update is applied any more: the last 50 of 50 were skipped";
// empty when updates are applied.
std::string UpdatesInWords(const RunEvidence& evidence);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_WORDS_H_
