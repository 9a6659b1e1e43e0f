// What the numbers of one place are in lines that are alike, oldest first: a
// count, a loss. The number `i` of each.

#ifndef NANWATCH_LOGS_NUMBER_COLUMNS_H_
#define NANWATCH_LOGS_NUMBER_COLUMNS_H_

#include <cstddef>
#include <vector>

#include "logs/number_row.h"

namespace nanwatch {

// Numbers of one line, in order.
using RowValues = std::vector<RowNumber>;

// Rises from line to line, in whole numbers.
bool CountsUp(const std::vector<RowValues>& lines, size_t i);
// Goes on or stays, in whole numbers.
bool Goes(const std::vector<RowValues>& lines, size_t i);
// A step that ranks print in turn, each behind its number, or that begins anew
// with each epoch: it comes again, and never with the same number.
bool CountsAgain(const std::vector<RowValues>& lines, size_t rank, size_t step);
// Printed with a point, in most lines, and no share or unit, nor a clock.
bool IsReal(const std::vector<RowValues>& lines, size_t i, bool named = false);
bool Falls(const std::vector<RowValues>& lines, size_t i);
bool AnyBelowZero(const std::vector<RowValues>& lines, size_t i);
bool AllBelowZero(const std::vector<RowValues>& lines, size_t i);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NUMBER_COLUMNS_H_
