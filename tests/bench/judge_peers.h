// PeersTable: the rules of other programs beside ours, on the generated runs
// and on logs with known outcomes.
//
// An alarm of a peer within 50 records of its last one is the same alarm; of
// ours an incident of warning or worse is one. Found: alarmed within 100 steps
// from the onset, at 5 to 100 times the healthy 99.9 % quantile.

#ifndef NANWATCH_TESTS_BENCH_JUDGE_PEERS_H_
#define NANWATCH_TESTS_BENCH_JUDGE_PEERS_H_

#include <cstdint>
#include <string>

namespace nanwatch {

// Returns the table as Markdown, below a line that says what it was made of.
// `corpus`: a folder of logs with labels.csv; empty: none.
std::string PeersTable(int seeds, int runs, int64_t steps,
                       const std::string& corpus);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_BENCH_JUDGE_PEERS_H_
