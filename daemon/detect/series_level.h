// SeriesLevel: where a healthy series stands, and how far its values lie about
// that. Both are of logarithms, with a prior, so that the second value is
// judged already.

#ifndef NANWATCH_DETECT_SERIES_LEVEL_H_
#define NANWATCH_DETECT_SERIES_LEVEL_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace nanwatch {

// Noise of single values about their level: a standard deviation, of natural
// logarithms.
struct NoisePrior {
  float running = 0;  // of a series that goes on
  float fresh = 0;    // of the first values of a fresh run
  // True: an excursion may ask what the first values show by themselves.
  bool shown = false;
};

// How a series goes from value to value. A way up or back has moves of one
// sign; of two moves in a row noise makes the product negative: minus its
// variance, in the mean. Trivially copyable.
class Zigzag {
 public:
  void Begin(float y) {
    newest_ = y;
    move_ = 0;
  }
  // Takes in the next value. Returns the variance of noise, as its turn shows
  // it; 0: it goes on the same way.
  float Add(float y) {
    const float before = std::exchange(move_, y - newest_);
    newest_ = y;
    return std::max(0.0f, -before * move_);
  }
  float newest() const { return newest_; }

 private:
  float newest_ = 0;
  float move_ = 0;  // to it
};

// Trivially copyable.
class SeriesLevel {
 public:
  // Begins with a value, as an estimate from `kPriorWeight` values of such
  // noise.
  void Begin(float y, float noise) {
    at_ = y;
    zigzag_.Begin(y);
    noise_ = noise;
    moves_ = noise * noise;
    wander_ = shown_ = 0;
    shows_ = false;
    values_ = learned_ = 1;
  }
  // Learns from a healthy value. `floor`: no noise is smaller.
  void Learn(float y, float floor) {
    const bool drops = y - zigzag_.newest() < -kDrops * noise_;
    LearnNoise(y, floor);
    const float most = kClip * noise_;
    float off = std::min(y - at_, most);
    if (drops) off = std::max(off, -most);
    float share = off < 0 ? kDown : kUp;
    if (values_ < (off < 0 ? kFew : kUnknown)) {
      share = 1.0f / static_cast<float>(values_ + 1);
    }
    at_ += off * share;
    if (values_ < kMost) ++values_;
  }
  // Leaves the level for `y`. That is no move of healthy values.
  void Leave(float y) { zigzag_.Add(y); }
  // Learns the noise of moves from a value that left the level: what scatters
  // there as far as it rose is noise.
  void LearnTurn(float y, float floor) {
    const float square = zigzag_.Add(y);
    if (square > shown_) Show(square);
    LearnSquare(square, floor);
  }
  // Learns the noise alone, from a value that may be healthy.
  void LearnNoise(float y, float floor) {
    const auto weight =
        static_cast<float>(std::clamp(values_, kMoves, kWanders));
    const float moved = Square(y - zigzag_.newest()) / 2;
    const float off = y > at_ ? Square(y - at_) : moved;
    wander_ += (std::min(off, Square(kClip * noise_)) - wander_) / weight;
    if (values_ < kSurely) Show(moved);
    LearnSquare(moved, floor);
    Leave(y);
  }
  // Moves to another level, which stays.
  void MoveTo(float y) {
    at_ = y;
    zigzag_.Begin(y);
    values_ = std::min(values_, kPriorWeight);
  }
  // Sees all values in another unit, in which it stands at `y` and moves are
  // `times` as long.
  void Stretch(float y, float times) {
    at_ = y;
    zigzag_.Begin(y);
    noise_ *= times;
    for (float* const variance : {&moves_, &wander_, &shown_}) {
      *variance *= times * times;
    }
  }
  // Forgets the noise of the first values: that of a fresh run is its own.
  // `shows`: all of them were healthy, and tell a noise of their own.
  void Settle(bool shows) {
    shows_ = shows;
    values_ = std::min(values_, kPriorWeight);
    learned_ = std::min(learned_, kPriorWeight);
  }

  float at() const { return at_; }
  float noise() const { return noise_; }
  // Returns the noise that moves alone show.
  float scatter() const { return std::sqrt(moves_); }
  // Returns at most so much of `noise` as is a few times what the values of a
  // fresh run show without the prior. `floor`: it is no smaller.
  float Shown(float noise, float floor) const {
    if (!shows_ || values_ >= kSurely) return noise;
    return std::min(noise, std::max(kTimesShown * std::sqrt(shown_), floor));
  }
  int32_t values() const { return values_; }  // healthy ones, saturates

 private:
  static constexpr int32_t kPriorWeight = 2;  // values; ours
  // A level follows a descent twice as fast as a rise. Moves tell the noise of
  // a series that descends; they miss that of one that wanders, which needs
  // longer to show.
  static constexpr float kDown = 1.0f / 8;  // of a value; ours
  static constexpr float kUp = 1.0f / 16;   // ours
  static constexpr int32_t kFew = 7;        // values that weigh more; as kDown
  static constexpr int32_t kUnknown =
      4;  // values: the first lie anywhere; ours
  static constexpr int32_t kFewMoves = 2;   // values, few are healthy; ours
  static constexpr int32_t kMoves = 64;     // values; ours
  static constexpr int32_t kWanders = 256;  // values; ours
  static constexpr float kClip = 3;   // deviations that a value counts; ours
  static constexpr float kDrops = 4;  // deviations at once, and back; ours
  static constexpr int32_t kMost = 1 << 20;  // values
  static constexpr int32_t kSurely = 32;     // values that need no prior; ours
  static constexpr float kOfShown = 1.0f / 16;  // of a value; ours
  static constexpr float kClipShown = 2;   // deviations that one counts; ours
  static constexpr float kTimesShown = 2;  // times what they show; ours

  static float Square(float x) { return x * x; }
  // What leaves them step by step is no noise of theirs.
  void Show(float square) {
    if (shows_) {
      const float most = Square(kClipShown) * shown_;
      shown_ += (std::min(square, most) - shown_) * kOfShown;
    } else {
      shown_ += (square - shown_) / static_cast<float>(values_);
    }
  }
  // `square`: of the noise, as one value shows it.
  void LearnSquare(float square, float floor) {
    learned_ = std::min(learned_ + 1, std::clamp(values_, kFewMoves, kMoves));
    const auto weight = static_cast<float>(kPriorWeight + learned_);
    moves_ += (std::min(square, Square(kClip * noise_)) - moves_) / weight;
    noise_ = std::max(std::sqrt(std::max(moves_, wander_)), floor);
  }

  float at_ = 0;
  float noise_ = 0;
  float moves_ = 0;   // variance, as moves from value to value show it
  float wander_ = 0;  // variance, as values above the level show it
  float shown_ = 0;   // variance, as moves show it without a prior
  Zigzag zigzag_;     // of values in a row
  int32_t values_ = 0;
  int32_t learned_ = 0;  // moves, saturates
  bool shows_ = false;   // what the first showed is known
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SERIES_LEVEL_H_
