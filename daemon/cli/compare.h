// compare: two runs side by side.

#ifndef NANWATCH_CLI_COMPARE_H_
#define NANWATCH_CLI_COMPARE_H_

#include <string>

#include "cli/compared_side.h"
#include "cli/style.h"
#include "compare/comparison.h"

namespace nanwatch {

std::string ComparisonText(const ComparedSide& a, const ComparedSide& b,
                           const Comparison& comparison, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COMPARE_H_
