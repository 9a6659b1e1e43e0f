// RankNames: which rank printed a step line: by its launcher, by the line's own
// words, or by the number that it begins with.

#ifndef NANWATCH_LOGS_RANK_NAMES_H_
#define NANWATCH_LOGS_RANK_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "logs/fact.h"
#include "logs/numbered_prefix.h"
#include "logs/rank_prefix.h"

namespace nanwatch {

class RankNames {
 public:
  // What a line itself says of its rank.
  struct Label {
    std::string before;     // the number
    int32_t number = -1;    // -1: the line has none
    bool in_words = false;  // "rank 3": it is the rank, if any is
  };
  // Names the rank of a step line that `reader` read by its launcher's word;
  // else returns its own. `line` is what stands behind `prefix`.
  Label Name(size_t reader, std::string_view line, const RankPrefix& prefix,
             LogFact* fact);
  // Names the rank of a line by its label, if such labels are ranks.
  void Settle(const Label& label, LogFact* fact);
  // All ranks from 0 up to the highest that was seen have printed by now: else
  // none is named.
  bool complete() const { return named_.complete(); }
  // A few lines more would tell whose lines these are.
  bool awaited() const {
    return numbered_.may_be() || (named_.any() && !named_.complete());
  }

 private:
  NamedRanks named_;
  NumberedRanks numbered_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RANK_NAMES_H_
