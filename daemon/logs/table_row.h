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
  // Splits `line` at blanks into as many cells as `header` has: each begins or
  // ends where its heading does, and is empty where nothing stands under that.
  // False: something stands under none, or more than one.
  bool SplitUnder(std::string_view header, std::string_view line);
  // Views into the line.
  const std::vector<std::string_view>& cells() const { return cells_; }

 private:
  static void SplitAtBlanks(std::string_view line,
                            std::vector<std::string_view>* cells);

  std::vector<std::string_view> cells_;
  std::vector<std::string_view> placed_;  // under headings
};

// What separates the names in a table's header: tab, bar, semicolon or comma;
// a blank, where two or more of them stand between all words.
char SeparatorOf(std::string_view header);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_TABLE_ROW_H_
