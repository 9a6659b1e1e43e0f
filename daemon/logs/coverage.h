// Coverage: how many of a log's step lines were read, and what stands in the
// others where numbers were.

#ifndef NANWATCH_LOGS_COVERAGE_H_
#define NANWATCH_LOGS_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logs/column_names.h"
#include "logs/step_shape.h"

namespace nanwatch {

struct LogCoverage {
  struct Example {
    uint64_t line = 0;
    std::string name;  // of the number: "loss"; may be empty
    std::string text;  // what stands there: "None"
    // Nothing was read of lines in which all numbers stand: of such as were
    // read before, or of others that name a loss.
    enum class Whole : uint8_t { kNo, kAlike, kOther } whole = Whole::kNo;
  };
  uint64_t step_lines = 0;
  uint64_t unread = 0;            // of them: words stand where a number was
  bool ends_unread = false;       // the newest step line is one
  std::vector<Example> examples;  // the first of each text, kExamples at most

  // Of another log of the same run.
  void Add(const LogCoverage& other);
  uint64_t read() const { return step_lines - unread; }
  // Enough was read to say that all is well: the newest line, and of all but
  // one in a hundred (torn lines).
  bool enough() const {
    return unread == 0 || (!ends_unread && unread * 100 < step_lines);
  }
  static constexpr size_t kExamples = 4;
};

// "not a number" in any dress that programs give it: "nanxxx", "tensor(nan,
// device='cuda:0')", "<nan>". None, null and N/A are none of them.
bool IsDressedNan(std::string_view words);

class Coverage {
 public:
  // A line that was read as a step: `fields`, a bit a StepField. Whether what
  // it lacks must be looked for with Find().
  bool NoteRead(std::string_view line, uint32_t fields);
  // The same of a line that is like one before, number for number.
  void NoteUsual() { NoteStep(); }
  // Counts lines that were read when a later line showed what they mean.
  void NoteWaited(uint64_t lines) { told_.step_lines += lines; }
  // The words that stand in `line` where numbers of a step line were. Empty: it
  // is no such line. `*fields`: that such lines show.
  const std::vector<WordsForNumber>& Find(std::string_view line,
                                          uint32_t* fields);
  // Returns whether what Find() was given last looks like a step line.
  bool alike() const { return alike_ || !words_.empty(); }
  // Returns whether the newest step line may have taught what others look like.
  bool learns() const { return told_.step_lines <= kLearned; }
  // A line was not read because of what Find() found. `whole`: nothing of it
  // was; else NoteRead() had it.
  void NoteUnread(uint64_t line, bool whole);
  // Nothing was read of a line in which Find() found no words.
  void NoteSilent(uint64_t line);
  LogCoverage told() const;

 private:
  void NoteStep() {
    ++told_.step_lines;
    told_.ends_unread = false;
    if (gap_ > 0) EndGap();
  }
  void EndGap();
  bool IsLacking() const;
  void NoteExample(uint64_t line, LogCoverage* coverage) const;
  void LearnShape(std::string_view line, uint32_t fields);

  // Silent lines a step line, from which on they are no exceptions: a log that
  // counts in two ways has some, and ranks print again what one said; ours.
  static constexpr double kSilentShare = 0.1;
  // Step lines of so many kinds; and from so many lines they are learned.
  static constexpr size_t kShapes = 8;
  static constexpr uint64_t kLearned = 64;

  std::vector<StepShape> shapes_;
  StepNames names_;
  bool by_name_ = false;  // words_ were found so
  bool alike_ = false;    // a step line's shape, and all is there
  // Lines in a row that lack what step lines show. In the logs of some programs
  // all of a kind do, and come again and again.
  uint64_t gap_ = 0;
  uint64_t longest_gap_ = 0;  // of those that are over
  uint64_t gaps_ = 0;         // over
  LogCoverage lacking_;       // of the newest: its example
  uint64_t silent_ = 0;       // lines of NoteSilent() of a step line's shape
  uint64_t first_silent_ = 0;
  ColumnNames columns_{ColumnMap{}};
  std::vector<WordsForNumber> words_;
  uint32_t fields_ = 0;  // of any line
  LogCoverage told_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COVERAGE_H_
