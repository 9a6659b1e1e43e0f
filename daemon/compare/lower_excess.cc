#include "compare/lower_excess.h"

#include <algorithm>
#include <map>
#include <utility>

namespace nanwatch {
namespace {

// Beyond the same op of each other layer: healthy pairs reach 1.98 of four
// layers whose attention is sharp, and 1.84 of others.
constexpr double kOfPeers = 2;
// One of a sketch's sums against the others, in a difference that is as good as
// normal: healthy pairs reach 5.4.
constexpr double kOutlier = 6.5;
// Of one step that is alone, and of one among others: so many times farther
// apart than where all agree.
constexpr double kAlone = 1.5;
constexpr double kSudden = 4;
// What stands out in all steps together does so in the one at hand, by this
// share at least.
constexpr double kAtHand = 0.8;

// The lower middle one of what the steps say, and not much more than what the
// one at hand does.
double Together(std::vector<double> all, double at_hand) {
  const auto middle =
      all.begin() + static_cast<ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return std::min(*middle, at_hand / kAtHand) / (all.size() < 3 ? kAlone : 1);
}

}  // namespace

std::vector<double> LowerExcesses(const StepAndNear& near) {
  std::map<TensorName, std::vector<const LowerApart*>> all;
  for (size_t s = 0; s < near.steps.size(); ++s) {
    const PairedStep& step = near.steps[s];
    if (near.apart[s].empty()) continue;
    for (size_t i = 0; i < step.pairs.size(); ++i) {
      if (step.pairs[i].distance) {
        all[step.pairs[i].name].push_back(&near.apart[s][i]);
      }
    }
  }
  std::vector<double> excesses;
  for (size_t i = 0; i < near.step().pairs.size(); ++i) {
    const TensorPair& pair = near.step().pairs[i];
    const LowerApart& here = near.apart[near.at][i];
    if (!pair.distance || pair.by_statistics) {
      excesses.push_back(here.excess);
      continue;
    }
    const auto together = [&](double LowerApart::*number) {
      std::vector<double> each;
      for (const LowerApart* one : all[pair.name]) each.push_back(one->*number);
      return Together(std::move(each), here.*number);
    };
    excesses.push_back(
        std::max({here.excess / kSudden, together(&LowerApart::excess),
                  together(&LowerApart::of_peers) / kOfPeers,
                  together(&LowerApart::outlier) / kOutlier}));
  }
  return excesses;
}

}  // namespace nanwatch
