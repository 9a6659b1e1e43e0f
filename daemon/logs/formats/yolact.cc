// YOLACT and its relatives: losses by their letters, T is their sum. The
// iteration is one of all epochs.
//
// [  0]      50 || B: 1.861 | C: 2.481 | M: 1.241 | S: 0.620 | T: 6.203 ||
// ETA: 3 days, 4:11:12 || timer: 0.512

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Behind "[": `  0]      50 || B: 1.861 | ... `.
void ReadStepLine(std::string_view text, size_t at, FactList* facts) {
  Scan scan(text);
  if (!ReadCount(&scan) || !scan.Skip("]")) return;
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.Skip(" || ") || !scan.To(" | T: ")) return;
  const std::optional<double> loss = scan.Number();
  if (!loss || !scan.Skip(" || ETA: ")) return;
  LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
  fact.step = *step;
  fact.Set(StepField::kLoss, *loss);
}

void Read(std::string_view line, FactList* facts) {
  ForEachMessage(line, "[", [facts](std::string_view text, size_t at) {
    ReadStepLine(text, at, facts);
  });
}

constexpr std::string_view kMarks[] = {" || ETA: "};

}  // namespace

const LogFormat kYolact = {
    .name = "yolact",
    .title = "YOLACT",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,  // its scaler's lines do
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
