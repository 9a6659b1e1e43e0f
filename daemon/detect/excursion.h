// Excursion: values that stand above their level, in a row, and the evidence
// that they are no noise.
//
// Evidence is in nats: the logarithm of how much likelier the values are if
// they go on where the excursion is (predicted before each is seen) than if
// they are healthy noise about the old level. Healthy noise is Student's t of
// three degrees, and a share of outliers that lie anywhere. The sum is an
// e-process: in healthy noise it reaches ln(1/a) with a chance of at most a,
// however often one looks (Shin, Ramdas, Rinaldo: E-detectors, 2023).

#ifndef NANWATCH_DETECT_EXCURSION_H_
#define NANWATCH_DETECT_EXCURSION_H_

#include <cstdint>

#include "detect/course.h"
#include "detect/series_level.h"

namespace nanwatch {

// Trivially copyable. All but its course is in natural logarithms.
class Excursion {
 public:
  // Values from here on above the level belong to one.
  static constexpr float kOpens = 2;  // deviations; ours

  // Opens one that began with `step`, above a level `base` of so many values
  // with such noise.
  void Begin(int64_t step, float base, float noise, int32_t values);
  // Takes in its next value, which is `value` and `y` as a logarithm. The noise
  // of `level` counts where it is larger than at the opening; none is smaller
  // than `floor`. `outliers`: share of healthy values that are such.
  void Add(float value, float y, const SeriesLevel& level, float floor,
           float outliers);

  int64_t step() const { return step_; }  // of its first value
  float base() const { return base_; }    // the level that it left
  float noise() const { return noise_; }
  // Returns no more than the level can bear: a few values may be outliers
  // themselves, on the other side.
  float nats() const;
  // Returns evidence that takes the level for known.
  float bare_nats() const { return nats_; }
  float peak() const { return peak_; }
  float entry() const { return entry_; }  // its first value
  int32_t values() const { return course_.records(); }
  int32_t above() const { return above_; }  // of those, not back at the level
  // Returns how far all of it stands above the level, in the mean.
  float mean_rise() const {
    return sum_ / static_cast<float>(values()) - base_;
  }
  const Course& course() const { return course_; }  // of the values
  // Its first value stood far above the level at once.
  bool jumped() const { return jumped_; }
  // The newest values are back at the level.
  bool IsOver() const;
  bool IsAbove(float y) const;
  // Its values hardly scatter.
  bool IsStill() const { return values() >= kShown && wobble_ < kEven; }
  // So, and they climb or stand.
  bool IsEven() const {
    return IsStill() && course_.last() >= kStands * course_.middle();
  }
  int32_t calm() const { return calm_; }  // newest values that are back
  // Returns how many of its values are outliers, if it is healthy.
  float outliers() const { return outliers_; }

 private:
  static constexpr int32_t kShown = 32;    // values; ours
  static constexpr float kStands = 0.95f;  // times the middle third; ours
  static constexpr float kEven = 0.0025f;  // of a deviation of 5 %; ours

  Course course_;
  float base_ = 0;
  float noise_ = 0;
  float nats_ = 0;
  float peak_ = 0;
  float entry_ = 0;
  float sum_ = 0;
  float outliers_ = 0;
  float scatter_ = 0;  // noise of moves within
  Zigzag zigzag_;      // of its values
  float wobble_ = 0;   // variance, as all of these show it
  int32_t level_values_ = 0;
  bool jumped_ = false;
  int32_t above_ = 0;
  int32_t calm_ = 0;  // newest values in a row that are back
  int64_t step_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_EXCURSION_H_
