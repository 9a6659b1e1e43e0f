// The value behind a name in a line, as programs print it.

#ifndef NANWATCH_LOGS_COLUMN_VALUE_H_
#define NANWATCH_LOGS_COLUMN_VALUE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/column_fact.h"
#include "logs/column_meaning.h"

namespace nanwatch {

// Adds to `*fact` the value that begins `text`: a number or a truth, behind
// what may be put before it.
void AddValue(ColumnMeaning meaning, std::string_view text, ColumnFact* fact);

// Adds the numbers of `line` that stand behind a column of `map` and a blank.
// False: the line says nothing of the numerics.
bool AddMapped(const std::vector<std::pair<std::string, ColumnMeaning>>& map,
               std::string_view line, ColumnFact* fact);
// Of a line that says in words that its update was left out, and the scale
// after it. False: it does not.
bool AddSkip(std::string_view line, ColumnFact* fact);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COLUMN_VALUE_H_
