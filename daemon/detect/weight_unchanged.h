// Rule 39, weight_unchanged: updates are applied and the weights stay as they
// are: parameters that the optimizer does not know, master weights that are not
// copied back, updates below the precision of the weights. Seen by the digest
// of the replica, or by the norm of the update.

#ifndef NANWATCH_DETECT_WEIGHT_UNCHANGED_H_
#define NANWATCH_DETECT_WEIGHT_UNCHANGED_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class WeightUnchanged {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds =
      Bit(StepField::kUpdateNorm) | kReplicaDigestBit;
  enum Threshold { kHold };
  // Without a learning rate in the records it needs so many times as long.
  static constexpr int kBlind = 10;  // ours

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // True when the record says that the weights changed.
  bool Follow(const StepRecord& record);

  Episode episode_;
  uint64_t digest_ = 0;
  int32_t same_ = 0;  // updates in a row with the digest of the one before
  int32_t zero_ = 0;  // updates in a row that changed nothing
  bool digested_ = false;
  bool digest_moved_ = false;  // ever
  bool updated_ = false;       // ever
  bool by_digest_ = false;     // of the finding
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_WEIGHT_UNCHANGED_H_
