// What two compared runs come to, for people.

#ifndef NANWATCH_APP_COMPARISON_WORDS_H_
#define NANWATCH_APP_COMPARISON_WORDS_H_

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "model/severity.h"

namespace nanwatch {

// None: they agree. Warning: a setting that changes results, or losses that
// nothing explains. Critical: they part.
Severity SeverityOf(const Comparison& comparison);

// Sentences.
struct ComparisonWords {
  std::string headline;
  std::string settings;
  std::string loss;
  std::vector<std::string> tensors;
  std::string what_to_do;  // empty: nothing
};
// Of the worst overflow that B alone has, a sentence; empty: it has none.
std::string OverflowHeadline(const OverflowDiff& diff);
ComparisonWords WordsOf(const Comparison& comparison);

}  // namespace nanwatch

#endif  // NANWATCH_APP_COMPARISON_WORDS_H_
