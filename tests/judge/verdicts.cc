#include "tests/judge/verdicts.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "tests/generate/course.h"
#include "tests/generate/healthy.h"
#include "tests/generate/ranks.h"
#include "tests/judge/hearing.h"

namespace nanwatch {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text.empty() ? "none" : text;
}

// Adds what the engine makes of a healthy story.
void Judge(const generate::Story& story, uint64_t seed,
           HealthyVerdict* verdict) {
  constexpr size_t kTogether = 16;  // so that no batch takes half an hour
  const Heard heard = Hear(story, kTogether);
  verdict->updates += heard.updates;
  HealthyVerdict::Row& row = verdict->by_kind[story.setup.kind];
  row.updates += heard.updates;
  for (const Told& told : heard.told) {
    if (told.worst < Severity::kWarning) continue;
    ++verdict->warnings;
    verdict->criticals += told.worst == Severity::kCritical;
    ++row.warnings;
    row.criticals += told.worst == Severity::kCritical;
    verdict->alarms.push_back(
        fmt::format("seed {} ({}), step {}: {} {} rule {}: {}", seed,
                    story.setup.kind, told.moment, Name(told.worst), told.cause,
                    NumberOf(told.rule), told.summary));
  }
}

}  // namespace

HealthyVerdict JudgeHealthy(uint64_t first, int runs, int64_t steps) {
  HealthyVerdict verdict;
  verdict.runs = runs;
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(runs);
       ++seed) {
    const generate::Story story =
        seed % 2 == 0 ? generate::Healthy(seed / 2, steps)
                      : generate::HealthyCourse(seed / 2, steps);
    Judge(story, seed, &verdict);
  }
  return verdict;
}

HealthyVerdict JudgeHealthyRanks(uint64_t first, int runs, int64_t steps) {
  HealthyVerdict verdict;
  verdict.runs = runs;
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(runs);
       ++seed) {
    Judge(generate::HealthyRanks(seed, steps), seed, &verdict);
  }
  return verdict;
}

TroubleVerdict JudgeTrouble(const generate::TroubleKind& kind, int seeds,
                            double effect) {
  TroubleVerdict verdict;
  verdict.effect = effect;
  for (int seed = 1; seed <= seeds; ++seed) {
    const generate::Story story =
        kind.make(static_cast<uint64_t>(seed), effect);
    const Heard heard = Hear(story, 1);
    ++verdict.stories;
    verdict.early += Warnings(heard, 0, story.onset);
    const bool first = !heard.causes.empty() && heard.causes[0] == kind.cause;
    int delay = -1;
    for (const Told& told : heard.told) {
      const bool counts = story.harmless ? told.cause == kind.cause
                                         : told.worst >= Severity::kWarning;
      const size_t at = story.harmless ? told.moment : told.warned;
      if (!counts || at < story.onset) continue;
      const int steps = static_cast<int>(at - story.onset);
      if (delay < 0 || steps < delay) delay = steps;
    }
    const bool alarmed =
        Warnings(heard, story.onset, story.moments.size() + 1) > 0;
    const bool found = story.harmless ? first && !alarmed : alarmed;
    verdict.found += found;
    verdict.named += first;
    if (found) verdict.delays.push_back(std::max(delay, 0));
    if (found && first) continue;
    std::string told;
    for (const Told& t : heard.told) {
      told += fmt::format(
          " [{} {} rule {} at +{}: {}]", Name(t.worst), t.cause,
          NumberOf(t.rule),
          static_cast<int64_t>(t.moment) - static_cast<int64_t>(story.onset),
          t.summary);
    }
    verdict.missed.push_back(fmt::format(
        "{} x{} seed {}: {}; causes: {};{}", kind.cause, effect, seed,
        found ? "found" : "missed", Joined(heard.causes), told));
  }
  std::sort(verdict.delays.begin(), verdict.delays.end());
  return verdict;
}

const std::vector<double>& EffectSizes() {
  static const auto* const effects =
      new std::vector<double>{1, 2, 3, 5, 8, 13, 20, 50, 100};
  return *effects;
}

}  // namespace nanwatch
