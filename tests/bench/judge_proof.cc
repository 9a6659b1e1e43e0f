#include "tests/bench/judge_proof.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>

#include "tests/generate/healthy.h"
#include "tests/generate/texture.h"
#include "tests/generate/trouble.h"
#include "tests/judge/verdicts.h"

namespace nanwatch {
namespace {

using generate::Kind;
using generate::Quantiles;

std::string Cell(const Quantiles& q) {
  return fmt::format("{:.3f} {:.3f} {:.3f}", q.median, q.q99, q.q999);
}

std::string TextureRow(std::string_view what, const generate::Texture& texture,
                       const Quantiles& made) {
  return fmt::format("| {}: {} | {} | {} | {} |\n", texture.source, what,
                     texture.lines, Cell(texture.measured), Cell(made));
}

}  // namespace

std::string TextureTable() {
  std::string out =
      "| log | lines | measured | generated |\n|---|---|---|---|\n";
  for (int kind = 0; kind < generate::kKinds; ++kind) {
    const auto k = static_cast<Kind>(kind);
    out += TextureRow("loss", generate::LossTexture(k),
                      generate::TypicalLosses(k));
  }
  out += TextureRow("gradient norm", generate::NormTexture(),
                    generate::TypicalNorms());
  const generate::ProbingTexture& probing = generate::Probing();
  return out + fmt::format(
                   "\nShare of updates that a probing scaler skips ({}): "
                   "measured {:.1f} %, generated {:.1f} %.\n",
                   probing.source, 100 * probing.skipped,
                   100 * generate::ProbingSkips());
}

std::string HealthyText(int runs, int64_t steps) {
  const HealthyVerdict verdict = JudgeHealthy(1, runs, steps);
  std::string out = fmt::format(
      "{} runs, {} updates: {} criticals, {} warnings.\n", verdict.runs,
      verdict.updates, verdict.criticals, verdict.warnings - verdict.criticals);
  out += "\n| texture | updates | criticals | warnings |\n|---|---|---|---|\n";
  for (const auto& [kind, row] : verdict.by_kind) {
    out += fmt::format("| {} | {} | {} | {} |\n", kind, row.updates,
                       row.criticals, row.warnings - row.criticals);
  }
  out += "\n";
  for (const std::string& alarm : verdict.alarms) {
    out += fmt::format("- {}\n", alarm);
  }
  return out;
}

std::string TroubleTable(int seeds) {
  std::string head = "| cause |";
  std::string rule = "|---|";
  for (const double effect : EffectSizes()) {
    head += fmt::format(" x{} |", effect);
    rule += "---|";
  }
  std::string out = head + " named, x5 on |\n" + rule + "---|\n";
  for (const generate::TroubleKind& kind : generate::TroubleKinds()) {
    out += fmt::format("| {} |", kind.cause);
    int stories = 0;
    int named = 0;
    for (const double effect : EffectSizes()) {
      const TroubleVerdict v = JudgeTrouble(kind, seeds, effect);
      out += fmt::format(" {:.0f} %", 100.0 * v.found / v.stories);
      if (!v.delays.empty()) {
        out += fmt::format(", {}", v.delays[v.delays.size() / 2]);
      }
      out += " |";
      if (effect < 5) continue;
      stories += v.stories;
      named += v.named;
    }
    out += fmt::format(" {:.0f} % |\n", 100.0 * named / stories);
  }
  return out;
}

}  // namespace nanwatch
