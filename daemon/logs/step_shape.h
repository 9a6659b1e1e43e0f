// StepShape: the words of a step line, around its numbers. A line that has the
// same words, and other words where numbers were, is a step line that could not
// be read.

#ifndef NANWATCH_LOGS_STEP_SHAPE_H_
#define NANWATCH_LOGS_STEP_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

// Words that stand in a line where a number was.
struct WordsForNumber {
  std::string_view name;  // what stands before them: "loss"; may be empty
  // The words: "None", "tensor(nan, device='cuda:0')". Empty: nothing stands
  // there.
  std::string_view text;
};

// The names of the numbers that step lines show: "step" and "loss" of "step=3
// loss=2.5". For lines that show other names, too, than those before.
class StepNames {
 public:
  void Learn(std::string_view line);
  // The words, or nothing, that stand in `line` where such a name had a number;
  // of lines in which another one has one.
  void Find(std::string_view line, std::vector<WordsForNumber>* words) const;

 private:
  static constexpr size_t kNames = 32;  // kept at most
  std::vector<std::string> names_;
};

class StepShape {
 public:
  // From now on `line` is the one, of which `fields` were read (a bit a
  // StepField). False: it is too long, or has no number.
  bool Learn(std::string_view line, uint32_t fields);
  // Whether `line` is such a one but for its numbers, the blanks and `*words`,
  // which point into it. True without words: all its numbers are there.
  bool Match(std::string_view line, std::vector<WordsForNumber>* words) const;
  uint32_t fields() const { return fields_; }

 private:
  std::string pattern_;  // without blanks; 0 stands for a number
  size_t letters_ = 0;   // of the pattern that are no number
  uint32_t fields_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_STEP_SHAPE_H_
