#include "logs/formats/scaled_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace nanwatch {
namespace {

// A run's lines: norms around a level that may fall, with noise of a factor of
// 1.2, under a scale that doubles every `window` lines and halves behind that.
class Lines {
 public:
  Lines(double scale, double norm, int window)
      : scale_(scale), norm_(norm), window_(window) {}

  void Next(double falls_by) {
    ++line_;
    if (line_ % window_ == 0) scale_ *= 2;
    if (line_ % window_ == 3 && line_ > window_) scale_ /= 2;
    norm_ *= falls_by;
    noise_ = noise_ * 6364136223846793005u + 1442695040888963407u;
    const double unit = static_cast<double>(noise_ >> 11) / 9007199254740992.0;
    noisy_ = norm_ * std::exp(0.36 * (unit - 0.5));
  }
  double scale() const { return scale_; }
  double norm() const { return noisy_; }

 private:
  double scale_;
  double norm_;
  int window_;
  int line_ = 0;
  uint64_t noise_ = 7;
  double noisy_ = 0;
};

// From far above the square root of the scale to far below: that height says
// nothing.
TEST(ScaledNormTest, ANormThatFallsIsNotTakenForAScaledOne) {
  for (const double scale : {64.0, 512.0, 1024.0, 2048.0}) {
    ScaledNorm unit;
    Lines lines(scale, scale / 8, 50);
    for (int i = 0; i < 3000; ++i) {
      lines.Next(0.999);
      EXPECT_EQ(unit.Unscaled(lines.norm(), lines.scale()), lines.norm())
          << scale << " " << i;
    }
  }
}

TEST(ScaledNormTest, NormsThatMoveWithTheScaleAreUnscaled) {
  ScaledNorm unit;
  Lines lines(65536, 0.5, 100);
  int told = 0;
  for (int i = 0; i < 3000; ++i) {
    lines.Next(1);
    const std::optional<double> norm =
        unit.Unscaled(lines.norm() * lines.scale(), lines.scale());
    if (!norm) continue;
    ++told;
    // One unit for all: that of the first scale.
    EXPECT_NEAR(*norm, lines.norm() * 65536, 1e-6) << i;
  }
  EXPECT_GT(told, 2500);
}

// The height of one line of a known kind changes nothing.
TEST(ScaledNormTest, WhatWasDecidedIsNotTurned) {
  ScaledNorm unit;
  Lines lines(1024, 1, 20);
  for (int i = 0; i < 400; ++i) {
    lines.Next(1);
    unit.Unscaled(lines.norm(), lines.scale());
  }
  for (int i = 0; i < 400; ++i) {
    const double scale = i % 2 == 0 ? 1024 : 65536;
    EXPECT_EQ(unit.Unscaled(scale, scale), scale);
  }
}

TEST(ScaledNormTest, AScaleThatStandsAsksNothing) {
  ScaledNorm unit;
  for (int i = 0; i < 100; ++i) {
    const double norm = 20000 + 1000 * (i % 7);
    EXPECT_EQ(unit.Unscaled(norm, 2048), norm);
  }
}

}  // namespace
}  // namespace nanwatch
