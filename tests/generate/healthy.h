// Healthy runs with the texture of real ones, whole, from a seed.

#ifndef NANWATCH_TESTS_GENERATE_HEALTHY_H_
#define NANWATCH_TESTS_GENERATE_HEALTHY_H_

#include <cstdint>
#include <vector>

#include "tests/generate/record.h"
#include "tests/generate/texture.h"
#include "tests/generate/training.h"

namespace nanwatch::generate {

// The plan of such a training, varied by `random`.
Plan PlanOf(Kind kind, int64_t steps, Random* random);

// One of language models with a hot start, with a long warm-up and in BF16,
// masked words, translation, a fine-tuning whose scaler probes every hundred
// steps, a policy whose loss is below zero, two optimizers side by side. With
// learning-rate and batch-size steps, other data from some step on, evaluation
// pauses, a restart from a checkpoint.
Story Healthy(uint64_t seed, int64_t steps);
inline constexpr int kHealthyKinds = 8;

// What the program whose log a texture was measured on would have printed.
std::vector<double> PrintedLosses(Kind kind, uint64_t seed);
std::vector<double> PrintedNorms(uint64_t seed);

// How far the numbers of such logs move: each quantile is the middle one of
// many logs.
Quantiles TypicalLosses(Kind kind);
Quantiles TypicalNorms();

// The share of updates that the probing scaler (Probing()) skips.
double ProbingSkips();

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_HEALTHY_H_
