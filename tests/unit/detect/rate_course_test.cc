#include "detect/rate_course.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace nanwatch {
namespace {

// Is the rate of the newest of so many records probed?
bool Probes(int records, const std::function<double(int)>& rate) {
  RateCourse course;
  for (int i = 0; i < records; ++i) {
    StepRecord record;
    record.step = i;
    record.present |= 1u << static_cast<int>(StepField::kLearningRate);
    record.value[static_cast<int>(StepField::kLearningRate)] = rate(i);
    course.Note(record);
  }
  return course.probes();
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

}  // namespace
}  // namespace nanwatch
