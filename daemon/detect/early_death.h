// EarlyDeath: most of a model stopped to learn in its first steps, before loss
// and zeros had a level that they could leave: a learning rate that is too high
// for fresh weights drives units where their activation is 0 for good, and the
// loss stands at that of a guess from there on. Everything else about such a
// run is calm. On the way there loss or norm shoot up: layers that are frozen
// or cut off on purpose bring nothing of the kind.

#ifndef NANWATCH_DETECT_EARLY_DEATH_H_
#define NANWATCH_DETECT_EARLY_DEATH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "detect/streak.h"

namespace nanwatch {

// Trivially copyable.
class EarlyDeath {
 public:
  // It may have begun, or still begin.
  bool possible() const { return losses_ < kEarly || began_; }
  // Of each update, finite, while possible(). `norm`: of its gradients; 0: not
  // known. `has_level`: a loss that stays where it began shows that nothing is
  // learnt; one that follows rewards shows nothing.
  void Add(double loss, float norm, bool has_level) {
    has_level_ = has_level;
    if (first_loss_ == kNone) first_loss_ = loss_ = static_cast<float>(loss);
    if (first_norm_ == 0) first_norm_ = norm;
    if (losses_ < kEarly) {
      ++losses_;
      shot_up_ |= (has_level && loss >= kHigh * first_loss_) ||
                  norm > kLarge * first_norm_;
    }
    // One that shot up on the way says nothing of where it stands.
    const double most = 2 * std::fabs(first_loss_);
    const auto one = static_cast<float>(std::min(loss, most));
    loss_ += kSmooth * (one - loss_);
    if (Stands()) return;
    losses_ = kEarly;  // it learns, or has no guess to stand at
    began_ = false;
    zeros_ = {};
  }

  // The share of gradient elements that are exactly 0, of updates that tell
  // one. After its loss.
  void AddZeros(double share, int64_t step) {
    if (first_share_ < 0) first_share_ = static_cast<float>(share);
    if (share - first_share_ < kMost * (1 - first_share_)) {
      zeros_ = {};
      return;
    }
    began_ |= shot_up_ && losses_ < kEarly;
    if (began_) zeros_.Add(true, step);
  }

  // A tensor is exactly 0, all of it, and was not before. Single elements may
  // be for any reason: an embedding's are where a batch has no word.
  void AddTensor() { tensor_ = true; }

  // It lasts for `steps`; till now the loss is where it began, if that says
  // anything.
  bool IsSure(int64_t step, double steps) const {
    return zeros_.records() >= kFewest && tensor_ &&
           static_cast<double>(step - since()) >= steps;
  }
  // Its first step. REQUIRES: suspected().
  int64_t since() const { return zeros_.since(); }
  // The newest updates may be the beginning of it.
  bool suspected() const { return zeros_.records() > 0; }
  bool has_level() const { return has_level_; }
  float first_loss() const { return first_loss_; }
  float loss() const { return loss_; }

 private:
  bool Stands() const { return !has_level_ || loss_ >= kFallen * first_loss_; }

  static constexpr float kNone = -HUGE_VALF;
  static constexpr float kMost = 0.5f;  // of the elements that were not 0; ours
  // Of the first loss, which is a bit above that of a guess.
  static constexpr float kFallen = 0.9f;  // ours
  // Of the first loss and the first norm: no noise of theirs.
  static constexpr float kHigh = 1.25f;        // ours
  static constexpr float kLarge = 3;           // times the first norm; ours
  static constexpr float kSmooth = 1.0f / 32;  // of an update; ours
  static constexpr int32_t kFewest = 8;        // updates; ours
  static constexpr int8_t kEarly = 64;         // losses; ours

  float first_loss_ = kNone;
  float loss_ = 0;  // smoothed
  float first_norm_ = 0;
  float first_share_ = -1;
  Streak zeros_;  // updates with so many
  int8_t losses_ = 0;
  bool has_level_ = true;
  bool shot_up_ = false;  // early
  bool tensor_ = false;
  bool began_ = false;  // early; a batch may well wake it once more
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_EARLY_DEATH_H_
