// LinePattern: what a program's step line looks like, as a text with places for
// its numbers. Formats that are no more than that are rows of a table
// (formats/patterns.cc).

#ifndef NANWATCH_LOGS_LINE_PATTERN_H_
#define NANWATCH_LOGS_LINE_PATTERN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "logs/epoch_steps.h"
#include "logs/format.h"
#include "logs/named_number.h"
#include "model/step.h"

namespace nanwatch {

// "step {step}/{} | loss {loss} " and so on. A blank stands for any number of
// blanks, also none; the last of a pattern: the line goes on. * stands for
// anything before what follows it, ^ at the start for the line's start. In
// braces: step, epoch, batch, whole (batches of an epoch), loss, term (of the
// loss: told where it is not finite), score (a return), norm, scale, lr, rank;
// nothing: any word.
struct LinePattern {
  enum class Role : uint8_t {
    kStep,   // a step of its own
    kScale,  // the loss scale is now another
    kSkip,   // the update of the next step line is skipped over its gradients
    // Lines that make a step together: the first, those between, the last,
    // which may be missing.
    kBegin,
    kPart,
    kEnd,
  };
  // A number that may stand anywhere else in the message, by what is before it.
  struct Also {
    std::string_view name;
    StepField field;
    LastNumber last = LastNumber::kMayBeTorn;
  };

  std::string_view text;
  std::span<const Also> also = {};
  Role role = Role::kStep;
  std::string_view rank = {};  // what is before the rank, which may be missing
};

struct PatternProgram {
  enum class Epochs : uint8_t {
    kNone,     // {step} is the run's
    kSeen,     // {batch} begins anew in each {epoch}; {whole} may be missing
    kFromOne,  // the same, and of {whole} batches each
    kFromZero,
    kStep,  // a line an epoch: {epoch} is the step
  };
  std::span<const LinePattern> lines;
  Epochs epochs = Epochs::kNone;
  bool means = false;  // LogFact::means
  // The line holds one of these: it is of an evaluation.
  std::span<const std::string_view> never = {};
};

class PatternReader : public LineReader {
 public:
  explicit PatternReader(const PatternProgram& program) : program_(program) {}
  void Read(std::string_view line, FactList* facts) override;

 private:
  // The numbers of one line.
  struct Numbers {
    LogFact fact;
    std::optional<int64_t> epoch;
    std::optional<int64_t> batch;
    int64_t whole = 0;
  };

  // Reads a number as programs print it, also within a call; behind it. npos:
  // there is none.
  static size_t ReadNumber(std::string_view name, std::string_view line,
                           size_t at, Numbers* numbers);
  // Reads a pattern's text at `at`, or anywhere behind; behind it. npos: it
  // does not stand there.
  static size_t Match(std::string_view pattern, std::string_view line,
                      size_t at, Numbers* numbers);
  static size_t MatchBehind(std::string_view pattern, std::string_view line,
                            size_t at, Numbers* numbers);
  static void ReadAlso(const LinePattern& pattern, std::string_view message,
                       LogFact* fact);
  bool ReadPattern(const LinePattern& pattern, std::string_view line,
                   FactList* facts);
  static bool Set(std::string_view name, std::string_view printed, double value,
                  Numbers* numbers);
  void Take(const LinePattern& pattern, Numbers* numbers, FactList* facts);
  // Numbers of `from` that `to` lacks.
  static void Add(const Numbers& from, Numbers* to);
  void Tell(Numbers* numbers, FactList* facts);

  const PatternProgram& program_;
  EpochSteps steps_;
  std::optional<Numbers> open_;  // a step of several lines
};

template <const PatternProgram& kProgram>
std::unique_ptr<LineReader> Patterned(const ColumnMap&) {
  return std::make_unique<PatternReader>(kProgram);
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_PATTERN_H_
