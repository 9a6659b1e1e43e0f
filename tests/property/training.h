// A small make-believe training: ranks with a dynamic loss scaler that
// overflow, go NaN, retry steps, go back, get lost and close, as a seed has it.

#ifndef NANWATCH_TESTS_PROPERTY_TRAINING_H_
#define NANWATCH_TESTS_PROPERTY_TRAINING_H_

#include <cstdint>
#include <random>
#include <vector>

#include "tests/unit/engine/driver.h"

namespace nanwatch {

// 64 random bits at a time; the same on every machine.
using Random = std::mt19937_64;
inline uint64_t Below(Random& random, uint64_t n) { return random() % n; }
inline bool Chance(Random& random, int percent) {
  return Below(random, 100) < static_cast<uint64_t>(percent);
}

// How a rank's numbers go: good spells and bad ones, a few dozen steps each.
class Trainer {
 public:
  explicit Trainer(uint64_t seed) : random_(seed) {}
  // The next record, and the op statuses that go with it.
  Row Next();
  std::vector<OpCell> Ops(int ops);
  int64_t step() const { return step_; }
  void GoBackTo(int64_t step) { step_ = step; }

 private:
  enum class Mood { kGood, kOverflows, kNan, kNear };
  Random random_;
  Mood mood_ = Mood::kGood;
  int left_ = 0;
  int64_t step_ = 0;
  double scale_ = 65536;
  int good_ = 0;
};

// Drives `runs` runs of `ranks` ranks each through `turns` turns of anything
// that can happen, and leaves all that in the driver's history.
void Train(uint64_t seed, int runs, int ranks, int turns, Driver* driver);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_PROPERTY_TRAINING_H_
