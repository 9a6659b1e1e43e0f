#include "detect/rate_course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace nanwatch {
namespace {

// Returns the course of so many records.
RateCourse Of(int records, const std::function<double(int)>& rate) {
  RateCourse course;
  for (int i = 0; i < records; ++i) {
    StepRecord record;
    record.step = i;
    record.present |= 1u << static_cast<int>(StepField::kLearningRate);
    record.value[static_cast<int>(StepField::kLearningRate)] = rate(i);
    course.Note(record);
  }
  return course;
}

// Is the rate of the newest of them probed?
bool Probes(int records, const std::function<double(int)>& rate) {
  return Of(records, rate).probes();
}

TEST(RateCourseTest, ARateThatGrowsByTheSameShareIsProbed) {
  const auto test = [](int i) { return 1e-7 * std::pow(1.19, i); };
  EXPECT_TRUE(Probes(60, test));
  EXPECT_FALSE(Probes(20, test)) << "few";
  // As a log prints it.
  EXPECT_TRUE(Probes(60, [&](int i) {
    const double unit = std::pow(10, std::floor(std::log10(test(i))) - 2);
    return std::round(test(i) / unit) * unit;
  }));
}

TEST(RateCourseTest, WarmUpsAndSchedulesAreNot) {
  EXPECT_FALSE(Probes(2000, [](int i) { return 1e-6 * (i + 1); }));
  EXPECT_FALSE(Probes(30, [](int i) { return 1e-6 * (i + 1); }));
  EXPECT_FALSE(Probes(500, [](int) { return 1e-3; }));
  EXPECT_FALSE(Probes(500, [](int i) { return 1e-3 * std::pow(0.9, i); }));
  EXPECT_FALSE(Probes(100, [](int i) {
    return i < 60 ? 1e-7 * std::pow(1.19, i) : 1e-3;
  })) << "the training that follows";
}

TEST(RateCourseTest, ItRisesWhereItIsAboveAllBefore) {
  const auto warms = [](int i) { return 1e-5 * std::min(i + 1, 10); };
  EXPECT_TRUE(Of(1, warms).rises());
  EXPECT_TRUE(Of(10, warms).rises());
  EXPECT_FALSE(Of(11, warms).rises()) << "it stands";
  RateCourse course = Of(10, warms);
  course.Note(StepRecord());
  EXPECT_FALSE(course.rises()) << "of a record without a rate";
  EXPECT_FLOAT_EQ(course.highest(), 1e-4f);
  EXPECT_FALSE(Of(3, [](int i) { return i == 1 ? 1e-4 : 1e-3; }).rises())
      << "back at the highest";
  EXPECT_FALSE(Of(2, [](int i) { return i == 0 ? 1e-3 : HUGE_VAL; }).rises());
}

TEST(RateCourseTest, ItRestartsWhereItJumpsBackToWhereItWas) {
  // A warm-up of two records, cycles of six.
  const auto cycles = [](int i) {
    return i < 2 ? 5e-4 * (i + 1) : 1e-3 * std::pow(0.5, (i - 2) % 6);
  };
  EXPECT_TRUE(Of(9, cycles).restarts());
  EXPECT_FALSE(Of(10, cycles).restarts());
  const auto jumps = [](int i) { return i < 20 ? 1e-3 : 0.05; };
  EXPECT_FALSE(Of(21, jumps).restarts()) << "it never was there";
  EXPECT_FALSE(Of(22, jumps).restarts());
}

TEST(RateCourseTest, ALowOneIsAHundredthOfTheHighest) {
  const auto falls_to = [](double last) {
    return Of(2, [=](int i) { return i == 0 ? 1e-3 : last; });
  };
  EXPECT_FALSE(falls_to(1.1e-5).is_low());
  EXPECT_TRUE(falls_to(0.9e-5).is_low());
  EXPECT_TRUE(falls_to(0).is_low());
  EXPECT_TRUE(falls_to(NAN).is_low());
  EXPECT_FLOAT_EQ(falls_to(NAN).highest(), 1e-3f);
}

}  // namespace
}  // namespace nanwatch
