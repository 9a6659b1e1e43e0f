// Numbers of a line that stand behind a name ("loss: 2.3"), and messages that
// are glued into one line.

#ifndef NANWATCH_LOGS_NAMED_NUMBER_H_
#define NANWATCH_LOGS_NAMED_NUMBER_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "logs/fact.h"
#include "logs/scan.h"

namespace nanwatch {

// Whether a number that touches the end of its message can be trusted: a line
// that was cut there may have lost digits.
enum class LastNumber : uint8_t { kMayBeTorn, kIsWhole };

// The number behind the first `name` of `text` (as printed, "loss: ") that
// begins a word: "s0.loss: " and "box_loss: " are other names. nullopt: there
// is none, or another message was printed into it.
std::optional<Scan::Printed> NumberBehind(
    std::string_view text, std::string_view name,
    LastNumber last = LastNumber::kMayBeTorn);

// Sets `field` of `fact` to the number behind `name`. False: there is none.
bool SetBehind(std::string_view text, std::string_view name, StepField field,
               LogFact* fact, LastNumber last = LastNumber::kMayBeTorn);

// Decimals of a number as printed, 4 of "1.5311"; of one that a format string
// such as %.4f printed, fewer mean that it is torn.
size_t Decimals(std::string_view printed);

// A count of epochs, batches or steps, behind blanks: of epochs times batches
// there is no overflow. nullopt: none, negative or above kCountMax.
inline constexpr int64_t kCountMax = 1'000'000'000;
std::optional<int64_t> ReadCount(Scan* scan);

// Two counts with a bar between, "  10/ 200", behind blanks.
struct Ratio {
  int64_t part = 0;
  int64_t whole = 0;
};
std::optional<Ratio> ReadRatio(Scan* scan);

// Calls read(message, at) with what stands behind each `mark` of `line`, up to
// the next mark; `at` is where the mark stands.
template <typename Read>
void ForEachMessage(std::string_view line, std::string_view mark, Read read) {
  size_t at = line.find(mark);
  while (at != std::string_view::npos) {
    const size_t begin = at + mark.size();
    const size_t next = line.find(mark, begin);
    read(line.substr(begin, next - begin), at);
    at = next;
  }
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NAMED_NUMBER_H_
