#include "logs/score_course.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace nanwatch {
namespace {

// `values`, each so many times.
ScoreCourse Of(std::initializer_list<std::pair<double, int>> values) {
  ScoreCourse course;
  int64_t step = 0;
  for (const auto& [value, times] : values) {
    for (int i = 0; i < times; ++i) course.Add(value, step += 10);
  }
  return course;
}

TEST(ScoreCourseTest, TellsARowThatIsFarFromTheBest) {
  const ScoreCourse course = Of({{1, 8}, {9, 30}, {0, 6}});
  const ScoreRow& row = course.row();
  EXPECT_EQ(row.since, 390);
  EXPECT_EQ(row.records, 6);
  EXPECT_EQ(row.all, 44);
  EXPECT_EQ(row.above, 28);
  EXPECT_EQ(row.first, 1);
  EXPECT_EQ(row.stands, 0);
  EXPECT_GT(row.best, 8);
  EXPECT_LE(row.best, 9);
  EXPECT_GT(row.noise, 0);
  EXPECT_EQ(row.wander, 0);
  EXPECT_TRUE(row.Text().starts_with("390 6 44 28 1 8.")) << row.Text();
}

TEST(ScoreCourseTest, IsNothingWhereItRisesOrIsBack) {
  EXPECT_EQ(Of({{1, 8}, {2, 5}, {3, 5}}).row().records, 0);
  EXPECT_EQ(Of({{1, 8}, {9, 20}, {1, 8}, {9, 5}}).row().records, 0);
  EXPECT_EQ(Of({{3, 1}}).row().records, 0);
  EXPECT_EQ(ScoreCourse().row().records, 0);
}

TEST(ScoreCourseTest, TwoThatStandOutSayNothing) {
  EXPECT_EQ(Of({{1, 8}, {9, 20}, {1, 2}}).row().records, 0);
  EXPECT_EQ(Of({{1, 8}, {900, 2}, {1, 8}}).row().best, 1);
  EXPECT_EQ(Of({{1, 8}, {9, 20}, {1, 8}, {9, 2}, {1, 3}}).row().records, 13);
}

TEST(ScoreCourseTest, TellsHowFarItWanders) {
  EXPECT_GT(Of({{1, 8}, {9, 20}, {1, 20}, {12, 40}, {1, 8}}).row().wander, 4)
      << "before";
  EXPECT_GT(Of({{1, 8}, {9, 20}, {-9, 8}, {3, 20}}).row().wander, 4) << "since";
}

// Half of what it was healthy at lies below where it began.
TEST(ScoreCourseTest, ARowThatSinksFarBelowTheFirstOnesBeginsThere) {
  const ScoreRow row = Of({{50, 8}, {51, 12}, {49, 8}, {0.25, 7}}).row();
  EXPECT_EQ(row.since, 290);
  EXPECT_EQ(row.records, 7);
  EXPECT_EQ(row.stands, 0.25);
}

}  // namespace
}  // namespace nanwatch
