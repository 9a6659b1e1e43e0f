// What programs say when they go on from a checkpoint. Of any program, beside
// its own lines.
//
// [ckpt] found checkpoint, resuming training
// => resumed at step 600
// => loaded checkpoint (iteration 260)
// Resuming from checkpoint out/checkpoint-29000

#include <string_view>

#include "logs/formats/formats.h"

namespace nanwatch {
namespace {

constexpr std::string_view kMarks[] = {"esuming ",          "esumed ",
                                       "oading checkpoint", "oaded checkpoint",
                                       "oading best",       "estored "};

void Read(std::string_view line, FactList* facts) {
  for (const std::string_view mark : kMarks) {
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    AddFact(LogFact::Kind::kResumed, at, facts);
    return;
  }
}

}  // namespace

const LogFormat kResumedWords = {
    .name = "resumed_words",
    .title = "what any program says when it goes on from a checkpoint",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .within_lines = true,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
