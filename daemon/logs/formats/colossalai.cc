// Colossal-AI's dynamic gradient scaler (and InternLM's copy of it).
//
// Overflow occurs, the loss scale is adjusted to 32768.0
// No overflow for consecutive 1000 steps, the loss scale is adjusted to 65536.0
// Found overflow. Skip step

#include <algorithm>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kAdjusted = ", the loss scale is adjusted to ";
constexpr std::string_view kFound = "Found overflow. Skip step";

class ColossalAiReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    for (size_t at = 0; at < line.size();) {
      const size_t adjusted = line.find(kAdjusted, at);
      const size_t found = line.find(kFound, at);
      const size_t next = std::min(adjusted, found);
      if (next == std::string_view::npos) return;
      if (next == found) {
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
    if (IsTorn(after->text, last_)) return;  // a copy
    // Its floats have a point. Of one that was cut before it the scale is the
    // next one, or nothing is known.
    const bool torn = IsTorn(after->text, next);
    if (!torn && after->integer()) return;
    LogFact& fact = AddFact(
        overflow ? LogFact::Kind::kOverflow : LogFact::Kind::kScale, at, facts);
    if (torn) {
      fact.Set(StepField::kLossScale, next);
    } else {
      SetScale(after->text, ScaleText::kExact, &fact);
    }
    last_ = torn ? next : after->value;
    if (overflow) adjusted_ = true;
  }

  double last_ = 0;        // newest scale; 0: none yet
  bool adjusted_ = false;  // the scaler's lines were seen
};

constexpr std::string_view kMarks[] = {kAdjusted, kFound};

}  // namespace

const LogFormat kColossalAi = {
    .name = "colossalai",
    .title = "Colossal-AI, InternLM",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .skips_take_steps = true,
    .make = Fresh<ColossalAiReader>,
};

}  // namespace nanwatch
