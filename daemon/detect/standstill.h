// Standstill: a loss that is the same to the last digit, record after record.
// Every batch has a loss of its own: the weights do not move, and neither do
// the data; or the number is no loss any more.

#ifndef NANWATCH_DETECT_STANDSTILL_H_
#define NANWATCH_DETECT_STANDSTILL_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "detect/series.h"

namespace nanwatch {

// Trivially copyable.
class Standstill {
 public:
  // Takes in a loss, of a record whose gradient norm is 0 or not.
  // REQUIRES: it is finite.
  void Note(float loss, bool no_gradient, int64_t step) {
    const float move = records_ == 0 ? 0 : loss - loss_;
    const float moved =
        move == 0 ? 0 : std::min(std::fabs(move) / std::fabs(loss), kLeap);
    seen_ = std::min<int16_t>(seen_ + 1, kSeen);
    const float off = moved - moves_;
    // Most times without a division.
    moves_ += seen_ == kSeen ? off * kOfSeen : off / static_cast<float>(seen_);
    if (records_ == 0 || loss != loss_) {
      Turn(move);
      longest_ = std::max(longest_, records_);
      loss_ = loss;
      step_ = step;
      records_ = 0;
    }
    records_ = std::min(records_ + 1, kMost);
    if (!no_gradient) {
      longest_without_ = std::max(longest_without_, without_gradient_);
      without_gradient_ = 0;
      return;
    }
    if (without_gradient_ == 0 && loss == 0) step_ = step;
    without_gradient_ = std::min(without_gradient_ + 1, kMost);
  }
  int32_t records() const { return records_; }  // in a row; saturates
  // Records, the newest of them, with a gradient norm of 0.
  int32_t without_gradient() const { return without_gradient_; }
  // Returns true where gradients came before, and none comes for far longer
  // than they were away then: rewards that are seldom leave some out.
  bool LostGradient() const {
    return without_gradient_ >= std::max(kLost, kLonger * longest_without_);
  }
  // Returns how far the newest losses move, one to the next: a share of them.
  float moves() const { return moves_; }
  float loss() const { return loss_; }
  // Of the first of them; of a loss of 0 that of the first without a gradient.
  int64_t step() const { return step_; }
  // It has five digits behind the point, or six in all.
  bool IsPrecise() const {
    return kFinest * Digit() <= std::max(1.0f, std::fabs(loss_));
  }
  // Returns what the last digit of the loss is worth, as it is printed: from a
  // hundredth on, as far as a float tells.
  float Digit() const {
    const float size = std::fabs(loss_);
    for (float parts = kCents; parts < kFinest; parts *= 10) {
      const float whole = std::round(parts * size);
      if (std::fabs(parts * size - whole) <= kFloat * whole) return 1 / parts;
    }
    return 1 / kFinest;
  }
  // Returns true where that is no matter of rounding, nor of a progress bar
  // that shows a number again, nor convergence: the loss swung by far more than
  // its last digit, and stood for far fewer records.
  bool HadMoved(const Series& s) const {
    const float digit = std::min(s.last_digit(), Digit());
    return rose_ && std::max(turn_, next_) >= kDigits * digit &&
           std::fabs(loss_) >= kShown * digit && records_ >= kLonger * longest_;
  }
  // It was another one before.
  bool moved() const { return longest_ > 0; }

 private:
  // On a way to where it comes to rest each move is shorter than the one
  // before. One that shrinks by less than half is not the last.
  void Turn(float move) {
    const float size = std::fabs(move);
    const float before = std::fabs(move_);
    rose_ |= move > 0;
    turn_ *= kFades;
    if (size > before && before > 0) turn_ = std::max(turn_, size + before);
    next_ = std::max(size + size - before, 0.0f);
    move_ = move;
  }

  static constexpr int16_t kSeen = 32;  // losses that show their moves; ours
  static constexpr float kOfSeen = 1.0f / kSeen;  // as kSeen
  static constexpr float kLeap = 0.03f;  // of the loss, one counts for; ours
  static constexpr float kFades = 0.5f;  // of a turn, from move to move; ours
  static constexpr float kDigits = 4;    // of the last one; ours
  static constexpr float kCents = 100;  // a loss in whole ones is rounded; ours
  static constexpr float kFloat = 2e-7f;  // of it: fp32 rounds so; ours
  static constexpr float kFinest = 1e5f;  // parts of 1, of a last digit; ours
  static constexpr float kShown = 100;    // of the last one, of a loss; ours
  static constexpr int32_t kLonger = 4;   // times the longest before; ours
  static constexpr int32_t kLost = 48;    // records without one; ours
  static constexpr int32_t kMost = 1 << 20;

  float loss_ = 0;
  float moves_ = 0;
  int16_t seen_ = 0;
  bool rose_ = false;  // ever: boosters and full batches only fall, and end
  float turn_ = 0;     // from a move to the next of late, and how long ago
  float next_ = 0;  // move after that to it, on a way to where it comes to rest
  float move_ = 0;  // to it
  int32_t records_ = 0;
  int32_t longest_ = 0;  // before
  int64_t step_ = 0;
  int32_t without_gradient_ = 0;
  int32_t longest_without_ = 0;  // such records in a row before
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_STANDSTILL_H_
