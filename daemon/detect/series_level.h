// SeriesLevel: where a healthy series stands, and how far its values lie about
// that. Both are of logarithms, with a prior, so that the second value is
// judged already.

#ifndef NANWATCH_DETECT_SERIES_LEVEL_H_
#define NANWATCH_DETECT_SERIES_LEVEL_H_

#include <cmath>
#include <cstdint>

namespace nanwatch {

// Noise of single values about their level: a standard deviation, of natural
// logarithms.
struct NoisePrior {
  float running = 0;  // of a series that goes on
  float fresh = 0;    // of the first values of a fresh run
};

// Trivially copyable.
class SeriesLevel {
 public:
  // Begins with a value, as an estimate from `kPriorWeight` values of such
  // noise.
  void Begin(float y, float noise);
  // Learns from a healthy value. `floor`: no noise is smaller.
  void Learn(float y, float floor);
  // Leaves the level for `y`. That is no move of healthy values.
  void Leave(float y) {
    move_ = y - newest_;
    newest_ = y;
  }
  // Learns the noise of moves from a value that left the level: what scatters
  // there as far as it rose is noise. A way up or back has moves of one sign,
  // and is none; of two moves in a row, noise makes the product negative: minus
  // its variance, in the mean.
  void LearnTurn(float y, float floor);
  // Learns the noise alone, from a value that may be healthy.
  void LearnNoise(float y, float floor);
  // Moves to another level, which stays.
  void MoveTo(float y);
  // Forgets the noise of the first values: that of a fresh run is its own.
  void Settle();

  float at() const { return at_; }
  float noise() const { return noise_; }
  // Returns the noise that moves alone show.
  float scatter() const { return std::sqrt(moves_); }
  int32_t values() const { return values_; }  // healthy ones, saturates

 private:
  // `square`: of the noise, as one value shows it.
  void LearnSquare(float square, float floor);

  float at_ = 0;
  float noise_ = 0;
  float moves_ = 0;   // variance, as moves from value to value show it
  float wander_ = 0;  // variance, as values above the level show it
  float newest_ = 0;
  float move_ = 0;  // to it, of values in a row
  int32_t values_ = 0;
  int32_t learned_ = 0;  // moves, saturates
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SERIES_LEVEL_H_
