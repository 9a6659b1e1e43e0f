// compare: two runs side by side.

#ifndef NANWATCH_CLI_COMPARE_H_
#define NANWATCH_CLI_COMPARE_H_

#include <string>

#include "cli/compared_side.h"
#include "cli/style.h"
#include "compare/comparison.h"

namespace nanwatch {

// 0: they agree. 1: what differs is usual, or a setting that changes results.
// 2: they part.
int SeverityOf(const Comparison& comparison);
std::string ComparisonText(const ComparedSide& a, const ComparedSide& b,
                           const Comparison& comparison, const Style& style);
std::string ComparisonJson(const ComparedSide& a, const ComparedSide& b,
                           const Comparison& comparison);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COMPARE_H_
