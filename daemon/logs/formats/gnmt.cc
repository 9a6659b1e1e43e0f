// NVIDIA's GNMT (MLPerf, DeepLearningExamples): its step lines, and its own
// loss scaler (--math fp16; with amp_fp16 Apex prints).
//
// 0: TRAIN [0][50/1291] <tab> Time 0.097 (0.094) <tab> ...
//     <tab> Loss/tok 8.4026 (9.1639) <tab> LR 8.885e-05
//
// 0: Skipped batch, new scale: 512.0
//
// 0: Upscaling, new scale: 1024.0

#include <cmath>
#include <string_view>

#include "logs/find_word.h"
#include "logs/formats/formats.h"
#include "logs/line_pattern.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// "3: " or "3: INFO: " before the message.
std::optional<int32_t> RankBefore(std::string_view line) {
  Scan scan(line);
  const std::optional<int64_t> rank = scan.Integer();
  if (!rank || !scan.Skip(": ")) return std::nullopt;
  return static_cast<int32_t>(*rank);
}

constexpr std::string_view kAlso[] = {"LR {lr}$"};
constexpr LinePattern kSteps[] = {
    {"TRAIN [{epoch}][{batch}/{whole}]*Loss/tok {loss} (", kAlso}};

class GnmtReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (HasWord(line, "TRAIN [")) {
      // Where all ranks print, one is enough.
      const int32_t rank = RankBefore(line).value_or(0);
      if (rank_ < 0) rank_ = rank;
      if (rank == rank_) steps_.Read(line, facts);
    }
    for (Scan skip(line); skip.To("Skipped batch, new scale: ");) {
      ReadScale(LogFact::Kind::kOverflow, line, skip.at(), facts);
    }
    for (Scan up(line); up.To("Upscaling, new scale: ");) {
      ReadScale(LogFact::Kind::kScale, line, up.at(), facts);
    }
  }

 private:
  void ReadScale(LogFact::Kind kind, std::string_view line, size_t at,
                 FactList* facts) {
    const auto scale = ReadMessageNumber(line.substr(at));
    if (!scale) return;
    // Floats: torn without a point; but the floor may be an integer.
    if (scale->integer() && (scale->value != 1 || last_ > 2)) return;
    // It doubles and halves: glued to another line's digits it is something
    // else.
    const bool glued = std::isfinite(last_) && !IsPowerOfTwo(scale->value) &&
                       !IsPowerOfTwo(scale->value / last_);
    if (glued) return;
    last_ = scale->value;
    LogFact& fact = AddFact(kind, at, facts);
    SetScale(scale->text, ScaleText::kExact, &fact);
    fact.rank = RankBefore(line);
  }

  PatternReader steps_{kSteps, {.epochs = PatternHabits::Epochs::kFromZero}};
  double last_ = HUGE_VAL;  // newest scale
  int32_t rank_ = -1;       // whose step lines are read; -1: none seen yet
};

constexpr std::string_view kMarks[] = {"TRAIN [", ", new scale: "};

}  // namespace

const LogFormat kGnmt = {
    .name = "gnmt",
    .title = "NVIDIA GNMT",
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<GnmtReader>,
};

}  // namespace nanwatch
