#include "tests/generate/ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/generate/healthy.h"
#include "tests/generate/random.h"
#include "tests/generate/training.h"

namespace nanwatch::generate {
namespace {

enum Data { kAlike, kOfTheirOwn, kLearnedApart };
constexpr int kData = 3;

}  // namespace

Story HealthyRanks(uint64_t seed, int64_t steps) {
  Random random(seed * 2654435761u + 29);
  const auto data = static_cast<Data>(seed % kData);
  const bool reduced = random.Chance(0.5);  // norms
  Plan plan = PlanOf(Kind::kLanguage, steps, &random);
  plan.scaling = Scaling::kNone;
  Story story;
  story.setup.kind = "ranks";
  story.setup.ranks = 2 + static_cast<int>(random.Below(7));
  story.setup.scaling = Scaling::kNone;
  story.setup.precision = "bf16";
  std::vector<double> levels;  // logarithms, of a rank's data
  for (int rank = 0; rank < story.setup.ranks; ++rank) {
    levels.push_back(data == kAlike ? 0 : 0.2 * random.Normal());
  }
  Training training(plan, seed);
  double highest = 0;  // loss
  for (int64_t i = 0; i < steps; ++i) {
    Moment moment;
    moment.seconds = 1;
    const Update common = training.Next();
    // What is learned parts them, as far as the loss comes down.
    highest = std::max(highest, *common.loss);
    const double learned =
        data == kLearnedApart ? std::log(highest / *common.loss) : 1;
    for (int rank = 0; rank < story.setup.ranks; ++rank) {
      Update own = common;
      own.rank = rank;
      const double level = levels[static_cast<size_t>(rank)] * learned;
      own.loss = *common.loss * std::exp(level + 0.02 * random.Tailed(4));
      if (!reduced && own.grad_norm) {
        own.grad_norm =
            *own.grad_norm * std::exp(level + 0.3 * random.Tailed(4));
      }
      moment.updates.push_back(std::move(own));
    }
    story.moments.push_back(std::move(moment));
  }
  story.onset = story.look_at = story.moments.size();
  return story;
}

}  // namespace nanwatch::generate
