// FloatStatus: what an Ascend NPU keeps in its float-status buffer, filled here
// from the CPU's real floating-point exception flags.

#ifndef NANWATCH_WORD2VEC_FLOAT_STATUS_H_
#define NANWATCH_WORD2VEC_FLOAT_STATUS_H_

#include <array>
#include <cstdint>

namespace word2vec {

class FloatStatus {
 public:
  // Forgets what the CPU has raised so far; call it right before an op.
  static void BeginOp();
  // True if the op overflowed, divided by zero or was invalid since BeginOp.
  // The words stay set until Clear, whatever later ops do.
  bool EndOp();

  // Words of the device; [0] != 0: an op overflowed since the last Clear.
  const std::array<int32_t, 8>& words() const { return words_; }
  bool overflow() const { return words_[0] != 0; }
  void Clear() { words_ = {}; }

 private:
  std::array<int32_t, 8> words_{};
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_FLOAT_STATUS_H_
