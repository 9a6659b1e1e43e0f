// BoxedRecord: one step that a program prints as a table of names and values, a
// row each, a rule above and below:
//
//  | iteration | 12   |
//  | loss      | 2.31 |
//
// or, with the step in the rule and blanks for the wall:
//
//  +- step 12 ---+
//  | loss   2.31 |
//  +-------------+

#ifndef NANWATCH_LOGS_BOXED_RECORD_H_
#define NANWATCH_LOGS_BOXED_RECORD_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace nanwatch {

bool IsTopOfBox(std::string_view line);

class BoxedRecord {
 public:
  // Takes in a row with a name and a number in bars; false: the line is none. A
  // row without a value ("| train/ | |") says nothing.
  bool Take(std::string_view line);
  bool empty() const { return record_.empty() && !settings_; }
  // A row with this name is taken already: the next one begins another record.
  bool Begins(std::string_view line) const;
  // Returns "iteration: 12 | loss: 2.31", and forgets the rows. Empty: there
  // was none, or they were settings.
  std::string TakeRecord();

 private:
  static constexpr size_t kRecordMax = 8192;

  std::string record_;
  bool settings_ = false;  // the table's rows are settings
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_BOXED_RECORD_H_
