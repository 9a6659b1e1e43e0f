// Course: how a value that left its level goes on, as means of up to eight
// equal stretches, however long it lasts. Said at the end: does it show a way
// back?

#ifndef NANWATCH_DETECT_COURSE_H_
#define NANWATCH_DETECT_COURSE_H_

#include <array>
#include <cstdint>

namespace nanwatch {

// Trivially copyable: a member of a rule.
class Course {
 public:
  // The next. REQUIRES: it is finite.
  void Add(float loss);
  int32_t records() const {
    return used_ == 0 ? 0 : (used_ - 1) * each_ + newest_;
  }
  // Returns the mean of the last third. REQUIRES: records() > 0.
  float last() const;
  // Returns the mean of the first third.
  float first() const { return Mean(0, Third()); }
  // Returns the mean of the middle third. REQUIRES: records() > 0.
  float middle() const { return Mean((used_ - Third()) / 2, Third()); }
  // The last third is clearly nearer to `usual` than the first was, and not
  // only since a peak at the beginning; of few records, also where it falls
  // from third to third. REQUIRES: records() > 0.
  bool ComesDown(float usual) const;
  // Returns how many times as fast it falls from the middle third to the last
  // as it fell before; 0: it did not fall before. REQUIRES: records() > 0.
  float Quickens() const;
  // It rises from third to third, and from no stretch to the next by more than
  // `most`.
  bool Creeps(float most) const;
  // Returns the mean of the first stretch. REQUIRES: records() > 0.
  float begin() const { return mean_[0]; }
  // Returns the lowest of the stretches' means. REQUIRES: records() > 0.
  float lowest() const;
  // It still falls, from third to third. REQUIRES: records() > 0.
  bool Falls(float usual) const;

 private:
  static constexpr int kStretches = 8;  // means; ours

  int Third() const;
  // Returns how many stretches are the last third: one more where the newest
  // is hardly begun.
  int LastThird() const;
  // Of `count` stretches, the last of them perhaps not full yet.
  float Mean(int from, int count) const;

  std::array<float, kStretches> mean_{};
  int32_t each_ = 1;    // records in a full stretch; a power of two
  int32_t newest_ = 0;  // records in the newest stretch
  int32_t used_ = 0;    // stretches
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_COURSE_H_
