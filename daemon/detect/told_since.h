// ToldSince: what a log says of a part of the training that no record holds:
// from which step on something is so, and of what.

#ifndef NANWATCH_DETECT_TOLD_SINCE_H_
#define NANWATCH_DETECT_TOLD_SINCE_H_

#include <cstdint>
#include <string>

#include "detect/context.h"
#include "detect/op_name_text.h"
#include "model/finding.h"

namespace nanwatch {

// Trivially copyable: a member of a rule.
class ToldSince {
 public:
  // Reads the run's setting "3350 val_loss". Returns false, and changes
  // nothing, where there is none, or it says that it is so no more.
  bool Read(const TimeContext& c, const char* setting,
            OpNameText* name = nullptr);
  void Describe(Finding* finding) const;
  int64_t step() const { return step_; }
  // "is not finite since step 3350", "was not finite from step 3350 on".
  std::string NotFinite(Tense tense) const;

 private:
  int64_t step_ = 0;
  int64_t newest_ = 0;  // step of the run
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_TOLD_SINCE_H_
