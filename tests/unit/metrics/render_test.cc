#include "metrics/render.h"

#include <gmock/gmock.h>

#include <clocale>
#include <cmath>

#include "tests/unit/metrics/sample_run.h"

namespace nanwatch {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string RenderOne(MetricsFormat format, Metric metric, double value,
                      std::string_view label = "") {
  FamilySet set;
  if (label.empty()) {
    set.Add(metric, {}, value);
  } else {
    set.Add(metric, {{"run_id", label}}, value);
  }
  std::string text;
  Render(format, set.Take(), &text);
  return text;
}

TEST(Render, TextHasHelpTypeAndSeries) {
  EXPECT_EQ(RenderOne(MetricsFormat::kText004, Metric::kMailboxLength, 3),
            "# HELP nanwatch_mailbox_length Parsed messages that wait for the "
            "pipeline.\n"
            "# TYPE nanwatch_mailbox_length gauge\n"
            "nanwatch_mailbox_length 3\n");
}

TEST(Render, OpenMetricsNamesCountersWithoutTotal) {
  const std::string text =
      RenderOne(MetricsFormat::kOpenMetrics100, Metric::kIngestBytes, 5);
  EXPECT_THAT(text, HasSubstr("# TYPE nanwatch_ingest_bytes counter\n"));
  EXPECT_THAT(text, HasSubstr("# UNIT nanwatch_ingest_bytes bytes\n"));
  EXPECT_THAT(text, HasSubstr("\nnanwatch_ingest_bytes_total 5\n"));
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(Render, OpenMetricsKnowsInfo) {
  const std::string text =
      RenderOne(MetricsFormat::kOpenMetrics100, Metric::kRunInfo, 1, "a");
  EXPECT_THAT(text, HasSubstr("# TYPE nanwatch_run info\n"));
  EXPECT_THAT(text, HasSubstr("\nnanwatch_run_info{run_id=\"a\"} 1\n"));
}

TEST(Render, EscapesLabelValues) {
  EXPECT_THAT(
      RenderOne(MetricsFormat::kText004, Metric::kLoss, 1, "a\"b\\c\nd"),
      HasSubstr("{run_id=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST(Render, NumbersReadBackTheSame) {
  const double values[] = {0.1, 1e-300, 65504, 9007199254740993.0, -2.5e17};
  for (const double value : values) {
    const std::string text =
        RenderOne(MetricsFormat::kText004, Metric::kLoss, value);
    EXPECT_EQ(std::strtod(text.c_str() + text.rfind(' '), nullptr), value);
  }
  EXPECT_THAT(RenderOne(MetricsFormat::kText004, Metric::kLoss, 1 << 30),
              HasSubstr("nanwatch_loss 1073741824\n"));
}

TEST(Render, NonFiniteValuesNeverBecomeSeries) {
  EXPECT_EQ(RenderOne(MetricsFormat::kText004, Metric::kLoss, NAN), "");
  EXPECT_EQ(RenderOne(MetricsFormat::kText004, Metric::kLoss, -INFINITY), "");
}

TEST(Render, TheLocaleChangesNothing) {
  const std::string before =
      RenderOne(MetricsFormat::kText004, Metric::kLoss, 1234.5);
  const std::string old = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(RenderOne(MetricsFormat::kText004, Metric::kLoss, 1234.5), before);
  std::setlocale(LC_ALL, old.c_str());
}

TEST(Render, OverflowsCarryTheirStepInOpenMetricsOnly) {
  RunView run = SampleRun("r");
  run.totals.overflows = 4;
  run.last_overflow_step = 123;
  run.last_overflow_rank = 3;
  EXPECT_THAT(Expose({run}, {}, MetricsFormat::kOpenMetrics100),
              HasSubstr("nanwatch_overflow_steps_total{run_id=\"r\"} 4 # "
                        "{step=\"123\",rank=\"3\"} 1\n"));
  EXPECT_THAT(Expose({run}), Not(HasSubstr("step=\"123\"")));
}

}  // namespace
}  // namespace nanwatch
