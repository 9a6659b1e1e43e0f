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

namespace nanwatch {

// "step {step}/{} | loss {loss} " and so on. A blank stands for any number of
// blanks, also none, two for two at least; the last of a pattern: the line goes
// on. * stands for anything before what follows it, ^ at the start for the
// line's start. In braces: step, first (step 0, no digit of which is lost),
// epoch, batch, whole (batches of an epoch), loss, objective (that rises: the
// loss is its negative), part (of the loss: they add up), term (of the loss:
// told where it is not finite), score (a return),
// norm, scale, lr, overflow (True, False or a number), rank; nothing: any word.
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
    kNothing,  // an evaluation's: no row below reads the line
  };

  std::string_view text;
  // Numbers that may stand anywhere else in the message, behind what begins a
  // word: "lr: {lr}". Of several for one thing the first that is there. Where
  // one of them is the loss, a message without it is no step. $ at the end: the
  // number may touch the message's end; $4: if it has so many decimals; $.: if
  // it has any.
  std::span<const std::string_view> also = {};
  Role role = Role::kStep;
};

// What a program's lines do not show by themselves.
struct PatternHabits {
  enum class Epochs : uint8_t {
    kNone,  // {step} is the run's
    kSeen,  // {batch} begins anew in each {epoch}; {whole} may be missing
    // The same, and of {whole} batches each; without it as seen.
    kFromOne,
    kFromZero,
    kStep,  // a line an epoch: {epoch} is the step
  };
  Epochs epochs = Epochs::kNone;
  bool means = false;  // LogFact::means
  bool once = false;   // of several lines of a step the first stands for it
};

class PatternReader : public LineReader {
 public:
  PatternReader(std::span<const LinePattern> lines, PatternHabits habits)
      : lines_(lines), habits_(habits) {}
  void Read(std::string_view line, FactList* facts) override;

 private:
  // The numbers of one line.
  struct Numbers {
    LogFact fact;
    std::optional<int64_t> epoch;
    std::optional<int64_t> batch;
    int64_t whole = 0;
  };

  // Reads a number as programs print it, also within a call or a list; behind
  // it. npos: there is none. `next`: what the pattern goes on with.
  static size_t ReadNumber(std::string_view name, std::string_view next,
                           std::string_view line, size_t at, Numbers* numbers);
  // Reads a pattern's text at `at`, or anywhere behind; behind it. npos: it
  // does not stand there.
  static size_t Match(std::string_view pattern, std::string_view line,
                      size_t at, Numbers* numbers);
  static size_t MatchBehind(std::string_view pattern, std::string_view line,
                            size_t at, Numbers* numbers);
  // False: the message lacks its loss.
  static bool ReadAlso(const LinePattern& pattern, std::string_view message,
                       Numbers* numbers);
  bool ReadPattern(const LinePattern& pattern, std::string_view line,
                   FactList* facts);
  static bool Set(std::string_view name, std::string_view printed, double value,
                  Numbers* numbers);
  void Take(const LinePattern& pattern, Numbers* numbers, FactList* facts);
  // Numbers of `from` that `to` lacks.
  static void Add(const Numbers& from, Numbers* to);
  void Tell(Numbers* numbers, FactList* facts);

  const std::span<const LinePattern> lines_;
  const PatternHabits habits_;
  EpochSteps steps_;
  int64_t told_ = -1;            // newest step
  std::optional<Numbers> open_;  // a step of several lines
};

// The format of a program whose lines are `kLines`.
template <const auto& kLines, PatternHabits kHabits = PatternHabits{}>
constexpr LogFormat PatternFormat(
    std::string_view name, std::string_view title,
    std::span<const std::string_view> marks,
    LogFormat::Part part = LogFormat::Part::kProgress) {
  return {.name = name,
          .title = title,
          .part = part,
          .marks = marks,
          .make = [](const ColumnMap&) -> std::unique_ptr<LineReader> {
            return std::make_unique<PatternReader>(kLines, kHabits);
          }};
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_PATTERN_H_
