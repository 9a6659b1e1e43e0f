#include "compare/unordered_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/floors.h"

namespace nanwatch {
namespace {

// What is usual of a tensor without those that it was made of, in halves of a
// last bit: in fp32 it grows as the root of the layers, in lower formats each
// op rounds anew. Of healthy pairs of other summation order, measured: 5e-6 at
// most in fp32; 0.94 % in bf16.
constexpr double kLoneRoundings = 64;
constexpr double kLoneLower = 4;

double FloorOf(const TensorPair& pair, const PairedStep& step) {
  const double measured = kOfRepeats * pair.usual;
  const double epsilon = std::max(pair.epsilon, step.epsilon);
  if (epsilon > kFp32) return std::max(measured, kLoneLower * epsilon);
  const double depth = static_cast<double>(step.pairs.size()) / kOpsALayer;
  return std::max(measured, kLoneRoundings * epsilon * std::sqrt(1 + depth));
}

// How many times what is usual; infinite where no number says it.
double Excess(const TensorPair& pair, double floor) {
  if (pair.other_specials || pair.other_shape || !pair.distance) {
    return std::numeric_limits<double>::infinity();
  }
  return *pair.distance / floor;
}

}  // namespace

WalkedStep WalkUnordered(const PairedStep& step) {
  WalkedStep walked;
  double most = 0;
  for (size_t i = 0; i < step.pairs.size(); ++i) {
    const TensorPair& pair = step.pairs[i];
    if (pair.equal) {
      ++walked.equal;
      continue;
    }
    if (!walked.first_unequal) walked.first_unequal = i;
    const double floor = FloorOf(pair, step);
    const double excess = Excess(pair, floor);
    if (excess <= 1) {
      ++walked.within;
      if (!walked.first_beyond) walked.floor = std::max(walked.floor, floor);
      continue;
    }
    ++walked.beyond;
    if (walked.first_beyond && excess <= most) continue;
    most = excess;
    walked.floor = floor;
    walked.first_beyond = i;
  }
  return walked;
}

}  // namespace nanwatch
