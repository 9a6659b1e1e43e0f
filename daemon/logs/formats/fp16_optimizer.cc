// FP16_Optimizer, as the first Megatron-LM, tacotron2 and Apex' contrib had it.
// It prints the scale of the update, which is the one before: the one after is
// not known (half of it, or the floor).
//
// OVERFLOW! Skipping step. Attempted loss scale: 65536
//
// Grad overflow on iteration 12
// Using dynamic loss scale of 4096.0

#include <algorithm>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kAttempted =
    "OVERFLOW! Skipping step. Attempted loss scale: ";
constexpr std::string_view kIteration = "Grad overflow on iteration";
constexpr std::string_view kDynamic = "Using dynamic loss scale of";
constexpr std::string_view kFixed = "Using static loss scale of";

class Fp16OptimizerReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    Scan scan(line);
    while (scan.To(kAttempted)) {
      ReadAttempted(&scan, scan.at() - kAttempted.size(), facts);
    }
    // The two lines may be glued, those of several ranks too.
    for (size_t at = 0; at < line.size();) {
      const size_t iteration = line.find(kIteration, at);
      const size_t scale =
          std::min(line.find(kDynamic, at), line.find(kFixed, at));
      const size_t next = std::min(iteration, scale);
      if (next == std::string_view::npos) return;
      if (next == iteration) {
        at = iteration + kIteration.size();
        const auto number = ReadMessageNumber(line.substr(at));
        if (number && number->integer()) pending_ = Step(*number);
      } else {
        const bool fixed = line.substr(scale).starts_with(kFixed);
        at = scale + (fixed ? kFixed : kDynamic).size();
        ReadScale(line.substr(at), scale, facts);
      }
    }
  }

 private:
  static int64_t Step(const MessageNumber& number) {
    return static_cast<int64_t>(number.value);
  }

  void ReadAttempted(Scan* scan, size_t at, FactList* facts) {
    const std::optional<MessageNumber> before = ReadMessageNumber(scan->rest());
    if (!before) return;
    if (IsTorn(before->text, last_) || IsTorn(before->text, last_ / 2)) return;
    LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
    fact.scale_before = before->value;
    last_ = before->value;
    Scan rest(before->rest);
    if (!rest.Skip(", reducing to ")) return;
    const std::optional<MessageNumber> after = ReadMessageNumber(rest.rest());
    if (after && !IsTorn(after->text, before->value / 2)) {
      SetScale(after->text, ScaleText::kExact, &fact);
    }
  }

  // Every rank prints the iteration: an overflow is told once.
  void ReadScale(std::string_view rest, size_t at, FactList* facts) {
    const std::optional<MessageNumber> before = ReadMessageNumber(rest);
    if (!before || pending_ < 0 || pending_ == told_) return;
    if (IsTorn(before->text, last_) || IsTorn(before->text, last_ / 2)) return;
    LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
    fact.step = pending_;
    fact.scale_before = before->value;
    last_ = before->value;
    told_ = pending_;
  }

  double last_ = 0;       // newest scale of an update; 0: none yet
  int64_t pending_ = -1;  // newest iteration that overflowed
  int64_t told_ = -1;     // newest one that was told
};

constexpr std::string_view kMarks[] = {kAttempted, kIteration, kDynamic,
                                       kFixed};

}  // namespace

const LogFormat kFp16Optimizer = {
    .name = "fp16_optimizer",
    .title = "FP16_Optimizer (first Megatron-LM, tacotron2, Apex contrib)",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<Fp16OptimizerReader>,
};

}  // namespace nanwatch
