// RandomCase: what a diagnosis is made of, out of a seed: any mixture of
// findings, ops and numbers, likely or not.

#ifndef NANWATCH_TESTS_JUDGE_RANDOM_CASE_H_
#define NANWATCH_TESTS_JUDGE_RANDOM_CASE_H_

#include <cstdint>
#include <vector>

#include "diagnose/evidence.h"
#include "model/finding.h"
#include "model/run.h"

namespace nanwatch {

struct RandomCase {
  RunDescription run;
  RunEvidence evidence;
  std::vector<Finding> findings;  // in the order of the finding board
};
RandomCase MakeRandomCase(uint64_t seed);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_JUDGE_RANDOM_CASE_H_
