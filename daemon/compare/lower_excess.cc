#include "compare/lower_excess.h"

#include <algorithm>
#include <cmath>
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

// Beyond the middle one a step is luck: what is over counts no more.
constexpr double kOfMiddle = 1.5;

double Middle(std::vector<double>* all) {
  const auto middle =
      all->begin() + static_cast<ptrdiff_t>((all->size() - 1) / 2);
  std::nth_element(all->begin(), middle, all->end());
  return *middle;
}

// What the steps say: the lower middle one.
double MiddleOf(std::vector<double> all) { return Middle(&all); }

// What the steps say together: all sums of their sketches are as good as one
// larger sketch.
double RootMeanSquare(std::vector<double> all) {
  const double most = kOfMiddle * Middle(&all);
  double sum = 0;
  for (const double each : all) sum += std::pow(std::min(each, most), 2);
  return std::sqrt(sum / static_cast<double>(all.size()));
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
    // Not much more than what the step at hand does.
    const auto together = [&](double LowerApart::*number, auto say) {
      std::vector<double> each;
      for (const LowerApart* one : all[pair.name]) each.push_back(one->*number);
      const double few = each.size() < 3 ? kAlone : 1;
      return std::min(say(std::move(each)), here.*number / kAtHand) / few;
    };
    excesses.push_back(std::max(
        {here.excess / kSudden, together(&LowerApart::excess, RootMeanSquare),
         together(&LowerApart::of_peers, MiddleOf) / kOfPeers,
         together(&LowerApart::outlier, MiddleOf) / kOutlier}));
  }
  return excesses;
}

}  // namespace nanwatch
