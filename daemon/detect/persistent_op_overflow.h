// Rule 20, persistent_op_overflow: the same op is bad again and again. Also the
// rule that names the op in runs with a fixed scale or with the overflow check
// off, where rules on the scale see nothing. A dynamic scaler that probes makes
// incidents far apart on purpose.

#ifndef NANWATCH_DETECT_PERSISTENT_OP_OVERFLOW_H_
#define NANWATCH_DETECT_PERSISTENT_OP_OVERFLOW_H_

#include <array>

#include "detect/bit_window.h"
#include "detect/context.h"
#include "detect/op_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class PersistentOpOverflow {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kBadUpdates, kApart, kWithin, kClear };

  Severity OnOp(const OpContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  bool ThreeStrikes(const OpContext& c, bool bad, Thresholds t);

  OpEpisode episode_;
  BitWindow<10> bad_10_;
  int64_t update_ = -1;              // of the newest bit
  std::array<Time, 3> incidents_{};  // newest first; epoch: none
  Time last_bad_{};
  // In this episode and before it, since the last 10 were clean (and, without
  // a dynamic scaler, none within the span).
  uint64_t bad_updates_ = 0;
  double scale_ = 0;
  bool applied_ = false;
  bool strikes_ = false;
  bool counted_ = false;  // this update is among bad_updates_
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_PERSISTENT_OP_OVERFLOW_H_
