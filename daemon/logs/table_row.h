// TableRow: the cells of one line of a table of values.

#ifndef NANWATCH_LOGS_TABLE_ROW_H_
#define NANWATCH_LOGS_TABLE_ROW_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace nanwatch {

class TableRow {
 public:
  // Splits `line` at `separator`, or for a blank at any number of them; a cell
  // in double quotes may hold it, and loses the quotes. Doubled quotes inside
  // stay doubled. False: a quote does not end, the line is torn.
  bool Split(std::string_view line, char separator);
  // Splits `line` at blanks into the columns of `header`, whose names begin, or
  // all end, where the cells below them do. Columns in the middle may lack
  // their cells, which are empty then. False: none does, a cell is no value, or
  // it stands below no name.
  bool SplitUnder(std::string_view header, std::string_view line);
  // Views into the line.
  const std::vector<std::string_view>& cells() const { return cells_; }
  bool HasNumber() const;
  bool AllNumbers() const;

 private:
  std::vector<std::string_view> cells_;
};

// What separates the names in a table's header: tab, bar, semicolon or comma;
// a blank, where two or more of them stand between all words.
char SeparatorOf(std::string_view header);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_TABLE_ROW_H_
