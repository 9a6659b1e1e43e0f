// What one trouble brings: rules whose findings are its consequences when they
// open within some steps of it. A table, so that a new consequence is a row.

#ifndef NANWATCH_DIAGNOSE_BROUGHT_H_
#define NANWATCH_DIAGNOSE_BROUGHT_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "diagnose/finding_index.h"
#include "model/rule_id.h"

namespace nanwatch {

enum class Trouble : uint8_t {
  kLossLeft,    // a loss left its level, or had left it
  kRanAway,     // a loss or a gradient norm left it so far that its rule warns
  kLossNan,     // losses are not finite, one after another
  kLayerGone,   // a layer gets no gradient any more
  kWildWeight,  // one weight is far out of its range, alone
  kOneIdle,     // one of several optimizers learns nothing
};

struct BroughtRow {
  Trouble trouble;
  RuleSet rules;
  // Steps around the trouble's first one in which they open.
  int64_t from;
  int64_t to;
  std::string_view why;
};
std::span<const BroughtRow> AllBrought();

// Returns the rules that `trouble`, which began at step `since`, brought: those
// whose findings all opened within the row's steps, or up to step `until` where
// it lasted longer; also where a rule has no finding.
RuleSet BroughtBy(Trouble trouble, int64_t since, const FindingIndex& found,
                  int64_t until = INT64_MIN);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_BROUGHT_H_
