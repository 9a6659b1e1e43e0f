// What shows that steps go by where no step line does: a training's progress
// bar, a global step beside something else. It stands between the overflows of
// a library whose program is not known.

#ifndef NANWATCH_LOGS_STEP_SIGN_H_
#define NANWATCH_LOGS_STEP_SIGN_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace nanwatch {

class StepSigns {
 public:
  // The step that `line` shows to be done.
  std::optional<int64_t> Find(std::string_view line);

 private:
  std::optional<int64_t> FindInBar(std::string_view line);

  int64_t whole_ = 0;  // of the training's bar; 0: none yet
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_STEP_SIGN_H_
