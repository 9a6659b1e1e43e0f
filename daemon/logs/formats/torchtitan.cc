// torchtitan's metric lines, coloured on a terminal; torchrun puts the rank
// before them.
//
//  [rank0]:[titan] 2024-10-01 10:00:00,123 - root - INFO - step: 10  loss:
//  7.1234  grad_norm:  1.2345  memory: 36.22GiB(45.80%)  tps: 6,271  mfu: 38.1%

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// "[rank3]:" at the start of a line.
std::optional<int32_t> RankOf(std::string_view line) {
  Scan scan(line);
  if (!scan.Skip("[rank")) return std::nullopt;
  const std::optional<int64_t> rank = ReadCount(&scan);
  if (!rank || *rank > 1 << 20 || scan.peek() != ']') {
    return std::nullopt;
  }
  return static_cast<int32_t>(*rank);
}

void Read(std::string_view line, FactList* facts) {
  const std::optional<int32_t> rank = RankOf(line);
  ForEachMessage(line, "step: ", [&](std::string_view text, size_t at) {
    // "validate step: 10  loss: ..." is an evaluation.
    if (line.substr(0, at).ends_with("validate ")) return;
    Scan scan(text);
    const std::optional<int64_t> step = ReadCount(&scan);
    if (!step || !scan.Skip("  loss: ")) return;
    if (text.find("  memory: ") == std::string_view::npos) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    fact.step = *step;
    fact.rank = rank;
    if (!SetBehind(text, "loss: ", StepField::kLoss, &fact)) return;
    SetBehind(text, "grad_norm: ", StepField::kGradNorm, &fact);
    SetBehind(text, "lr: ", StepField::kLearningRate, &fact);
    facts->push_back(fact);
  });
}

constexpr std::string_view kMarks[] = {"step: "};

}  // namespace

const LogFormat kTorchTitan = {
    .name = "torchtitan",
    .title = "torchtitan",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
