// NumberRow: the numbers of a line, and the words between them. Lines of one
// print statement have the same words.

#ifndef NANWATCH_LOGS_NUMBER_ROW_H_
#define NANWATCH_LOGS_NUMBER_ROW_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nanwatch {

struct RowNumber {
  double value = 0;
  bool whole = false;  // printed without a point or an exponent
  bool share = false;  // a percentage
  // Of a time, "0.5s", "(2.6Hr)", "3.1 seconds", or a device, "cuda:0".
  bool unit = false;
  size_t begin = 0;  // byte of the line
  size_t end = 0;
};

class NumberRow {
 public:
  static constexpr size_t kNumbersMax = 24;  // more are a dump of a tensor
  static constexpr size_t kBytesMax = 512;   // of a line

  // Finds the numbers of `line`: digits that no letter touches, nan and inf.
  // Dates and clocks are words; "5,58" is a number where the line shows no
  // point in one. False: it has none, or too many, or is too long.
  bool Read(std::string_view line);

  // REQUIRES: Read() was true; the line still is.
  const std::vector<RowNumber>& numbers() const { return numbers_; }
  // Returns what stands before the number `i`, behind the one before it; of
  // `i` == size() what stands behind the last.
  std::string_view Before(size_t i) const;
  // The number is a tensor that PyTorch knows the gradient of, "tensor(2.3,
  // grad_fn=<NllLossBackward0>)": what is trained on, and nothing else is
  // printed so.
  bool IsDifferentiated(size_t i) const;
  // Returns a hash of the words, without blanks.
  uint64_t words() const { return words_; }

 private:
  size_t TakeNumber(std::string_view line, size_t at, char* stands);
  size_t ReadNumber(std::string_view line, size_t at);
  size_t ReadWord(std::string_view line, size_t at, size_t first);
  size_t Add(std::string_view line, size_t at, size_t end,
             std::string_view word);

  std::string_view line_;
  std::vector<RowNumber> numbers_;
  bool commas_ = false;  // stand where others write a point
  uint64_t words_ = 0;
};

// Returns `text` without the bar that begins it, where one does: that of a
// table with bars around it.
inline std::string_view WithoutFirstBar(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  const bool bar = first != text.npos && text[first] == '|';
  return bar ? text.substr(first + 1) : text;
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NUMBER_ROW_H_
