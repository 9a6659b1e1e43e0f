// Rule 51, sdc_strikes: the same rank alone goes wrong again and again, where
// its replicas do not: its device may corrupt data in silence. As torch_npu's
// three strikes, but against chance: of few ranks the same one is hit three
// times soon enough.

#ifndef NANWATCH_DETECT_SDC_STRIKES_H_
#define NANWATCH_DETECT_SDC_STRIKES_H_

#include <array>

#include "detect/context.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class SdcStrikes {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kRatio, kStrikes, kApart, kWithin, kShare };

  Severity OnAligned(const AlignedContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  struct Strike {
    Time time{};
    int32_t rank = -1;
  };
  static constexpr int kKept = 12;  // strikes; ours
  static int32_t Accused(const AlignedContext& c, Thresholds t);
  Severity Judge(const AlignedContext& c, Thresholds t, int32_t rank);

  std::array<Strike, kKept> strikes_{};  // newest first
  int64_t opened_step_ = 0;
  int64_t last_step_ = 0;
  int32_t rank_ = -1;
  int32_t count_ = 0;   // of rank_, within the window
  int32_t others_ = 0;  // of other ranks
  int32_t ranks_ = 0;
  Severity severity_ = Severity::kNone;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SDC_STRIKES_H_
