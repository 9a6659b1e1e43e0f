#include "tests/generate/texture.h"

#include <algorithm>
#include <cmath>

namespace nanwatch::generate {
namespace {

constexpr Texture kLosses[kKinds] = {
    {"public training logs of BigScience: GPT-2, Megatron-LM, its first 200 "
     "iterations",
     19,
     10,
     {0.0181, 0.6177, 0.6242},
     {0.035, 8}},
    {"public training logs of MLPerf v0.7: BERT, step_loss",
     13903,
     1,
     {0.1659, 0.8599, 1.3044},
     {0.152, 5}},
    {"public training logs of MLPerf v0.7: GNMT on a DGX A100, Loss/tok",
     650,
     10,
     {0.0663, 0.2914, 0.3273},
     {0.07, 0}},
};

// The only one of these logs that prints gradient norms.
constexpr Texture kNorms = {
    "public training logs of BigScience: GPT-2, Megatron-LM, its first 200 "
    "iterations",
    18,
    10,
    {0.3248, 1.2572, 1.2823},
    {0.35, 12}};

constexpr ProbingTexture kProbing = {
    "public training logs of DeepSpeed-Chat: SFT of OPT-1.3B", 139.0 / 7360,
    100};

double At(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] +
         (sorted[high] - sorted[low]) * (place - static_cast<double>(low));
}

}  // namespace

const Texture& LossTexture(Kind kind) {
  return kLosses[static_cast<int>(kind)];
}
const Texture& NormTexture() { return kNorms; }
const ProbingTexture& Probing() { return kProbing; }

Quantiles MovesOf(const std::vector<double>& values) {
  std::vector<double> moves;
  for (size_t i = 1; i < values.size(); ++i) {
    moves.push_back(std::fabs(std::log(values[i] / values[i - 1])));
  }
  std::sort(moves.begin(), moves.end());
  return {At(moves, 0.5), At(moves, 0.99), At(moves, 0.999)};
}

}  // namespace nanwatch::generate
