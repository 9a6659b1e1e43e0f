// Holdings: what the runs of one owner hold of the budgets over all runs.

#ifndef NANWATCH_ENGINE_HOLDINGS_H_
#define NANWATCH_ENGINE_HOLDINGS_H_

#include <cstddef>

namespace nanwatch {

struct Holdings {
  size_t runs = 0;
  size_t ranks = 0;
  size_t op_bytes = 0;   // as limits::kOpBytes counts
  size_t run_bytes = 0;  // as limits::kRunBytes counts

  // Sums may wrap on the way: a difference is added as well.
  Holdings& operator+=(const Holdings& more) {
    runs += more.runs;
    ranks += more.ranks;
    op_bytes += more.op_bytes;
    run_bytes += more.run_bytes;
    return *this;
  }
  Holdings& operator-=(const Holdings& less) {
    runs -= less.runs;
    ranks -= less.ranks;
    op_bytes -= less.op_bytes;
    run_bytes -= less.run_bytes;
    return *this;
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_HOLDINGS_H_
