// Rule 69, rival_gone: one of two losses that work against each other is next
// to nothing, and the other learns nothing from it any more.

#ifndef NANWATCH_DETECT_RIVAL_GONE_H_
#define NANWATCH_DETECT_RIVAL_GONE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class RivalGone {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kRivalsBit | kNegativeLossBit;
  enum Threshold { kShare, kHold, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  bool Waits() const { return young_; }
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  // Mean of the first losses above 0, no geometric one: of these some are next
  // to nothing already, where it wins at once.
  float first_ = 0;
  float loss_ = 0;          // the newest that was low
  int8_t records_ : 4 = 0;  // that are the first, up to all of them
  int8_t firsts_ : 4 = 0;   // of those above 0
  int8_t lows_ = 0;         // low losses, less those that a higher one undoes
  bool critic_ = false;     // the loss was below 0
  bool young_ = true;       // it may turn out to be a rival
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RIVAL_GONE_H_
