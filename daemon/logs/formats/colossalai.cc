// Colossal-AI's dynamic gradient scaler (and InternLM's copy of it).
//
// Overflow occurs, the loss scale is adjusted to 32768.0
// No overflow for consecutive 1000 steps, the loss scale is adjusted to 65536.0
// Found overflow. Skip step
// Overflow occurs, please check it.

#include <algorithm>
#include <string>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kAdjusted = ", the loss scale is adjusted to ";
constexpr std::string_view kFound = "Found overflow. Skip step";
constexpr std::string_view kCheck = "Overflow occurs, please check it";
// So many of InternLM's words on an overflow and none on the scale, with which
// they come: a static one.
constexpr int kStatic = 32;

class ColossalAiReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    for (size_t at = 0; at < line.size();) {
      const size_t adjusted = line.find(kAdjusted, at);
      const size_t found = line.find(kFound, at);
      const size_t check = line.find(kCheck, at);
      const size_t next = std::min({adjusted, found, check});
      if (next == std::string_view::npos) return;
      if (next == check) {
        at = check + kCheck.size();
        if (!adjusted_ && ++checks_ > kStatic) {
          AddFact(LogFact::Kind::kOverflow, check, facts);
        }
      } else if (next == found) {
        at = found + kFound.size();
        // The optimizer's own line, after the scaler's: where both are
        // printed, only the scaler's has a number.
        if (!adjusted_) AddFact(LogFact::Kind::kOverflow, found, facts);
      } else {
        ReadAdjusted(line.substr(at, adjusted - at),
                     line.substr(adjusted + kAdjusted.size()), adjusted, facts);
        at = adjusted + kAdjusted.size();
      }
    }
  }

 private:
  void ReadAdjusted(std::string_view head, std::string_view rest, size_t at,
                    FactList* facts) {
    const bool overflow = head.ends_with("Overflow occurs");
    const bool raised =
        !overflow && head.ends_with(" steps") &&
        head.find("No overflow for consecutive ") != std::string_view::npos;
    const std::optional<MessageNumber> after = ReadMessageNumber(rest);
    if ((!overflow && !raised) || !after) return;
    const double next = overflow ? last_ / 2 : last_ * 2;
    const bool again = after->text == doubted_;
    if (IsTorn(after->text, last_) && !again) {  // a copy
      doubted_ = after->text;
      return;
    }
    // Its floats have a point. Of one that was cut before it the scale is the
    // next one, or nothing is known of the scale; but a limit that was given as
    // an integer has none, and what is told twice was cut in neither.
    const bool torn = IsTorn(after->text, next) && !again;
    const bool whole = !after->integer() || again || after->value == last_ ||
                       after->value == next;
    doubted_ = whole ? "" : after->text;
    if (raised && !torn && !whole) return;
    LogFact& fact = AddFact(
        overflow ? LogFact::Kind::kOverflow : LogFact::Kind::kScale, at, facts);
    if (overflow) adjusted_ = true;
    if (torn) {
      fact.Set(StepField::kLossScale, next);
      last_ = next;
    } else if (whole) {
      SetScale(after->text, ScaleText::kExact, &fact);
      last_ = after->value;
    }
  }

  double last_ = 0;        // newest scale; 0: none yet
  bool adjusted_ = false;  // the scaler's lines were seen
  int checks_ = 0;         // InternLM's words on overflows, without these
  std::string doubted_;    // the number of the line before, if it may be cut
};

constexpr std::string_view kMarks[] = {kAdjusted, kFound, kCheck};

}  // namespace

const LogFormat kColossalAi = {
    .name = "colossalai",
    .title = "Colossal-AI, and InternLM's copy of it",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<ColossalAiReader>,
};

}  // namespace nanwatch
