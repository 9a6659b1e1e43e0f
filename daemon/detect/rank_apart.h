// Rule 71, rank_apart: the loss or the gradient norm of one rank has left those
// of the others, which it was among.

#ifndef NANWATCH_DETECT_RANK_APART_H_
#define NANWATCH_DETECT_RANK_APART_H_

#include <array>
#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/rank_lead.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class RankApart {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kLoss, kNorm, kUsual, kMoved, kNats, kLearn, kHold, kClear };

  Severity OnAligned(const AlignedContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  enum Side { kLossAbove, kLossBelow, kNormAbove, kNormBelow, kSides };

  void Follow(const AlignedStep& s);
  bool Left(Side side, Thresholds t) const;

  Episode episode_;
  std::array<RankLead, kSides> leads_{};
  RankLead told_;                  // the one that left
  std::array<int32_t, 2> most_{};  // ranks with a loss, with a norm
  int32_t ranks_ = 0;              // that are compared
  int8_t side_ = -1;               // that left; -1: none did
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RANK_APART_H_
