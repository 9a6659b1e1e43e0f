// Tables of what the judge does on generated runs: how like real logs these
// are, what it says of healthy ones, and which troubles it finds and names.

#ifndef NANWATCH_TESTS_BENCH_JUDGE_PROOF_H_
#define NANWATCH_TESTS_BENCH_JUDGE_PROOF_H_

#include <cstdint>
#include <string>

namespace nanwatch {

// Each returns Markdown.
std::string TextureTable();
std::string HealthyText(int runs, int64_t steps);
std::string TroubleTable(int seeds);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_BENCH_JUDGE_PROOF_H_
