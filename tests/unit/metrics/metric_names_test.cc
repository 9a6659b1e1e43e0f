#include "model/metric_names.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace nanwatch {
namespace {

TEST(MetricNames, AreUniqueAndWellFormed) {
  std::set<std::string_view> names;
  for (const MetricSpec& spec : kMetricTable) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_TRUE(spec.name.starts_with("nanwatch_") ||
                (spec.internal && spec.name.starts_with("process_")))
        << spec.name;
    EXPECT_EQ(spec.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456"
                                          "789"),
              std::string_view::npos)
        << spec.name;
  }
}

TEST(MetricNames, SuffixesFollowTheKind) {
  for (const MetricSpec& spec : kMetricTable) {
    EXPECT_EQ(spec.name.ends_with("_total"), spec.kind == MetricKind::kCounter)
        << spec.name;
    EXPECT_EQ(spec.name.ends_with("_info"), spec.kind == MetricKind::kInfo)
        << spec.name;
  }
}

// OpenMetrics names a counter and an info without their suffix.
TEST(MetricNames, AreUniqueWithoutTheirSuffix) {
  std::set<std::string_view> stems;
  for (const MetricSpec& spec : kMetricTable) {
    std::string_view stem = spec.name;
    for (const std::string_view suffix : {"_total", "_info"}) {
      if (stem.ends_with(suffix)) stem.remove_suffix(suffix.size());
    }
    EXPECT_TRUE(stems.insert(stem).second) << spec.name;
  }
}

TEST(MetricNames, HelpIsASentence) {
  for (const MetricSpec& spec : kMetricTable) {
    EXPECT_TRUE(spec.help.ends_with('.')) << spec.name;
  }
}

TEST(MetricNames, UnitsAreBaseUnits) {
  EXPECT_EQ(UnitOf("nanwatch_ingest_bytes_total"), "bytes");
  EXPECT_EQ(UnitOf("nanwatch_snapshot_age_seconds"), "seconds");
  EXPECT_EQ(UnitOf("nanwatch_last_step"), "");
  for (const MetricSpec& spec : kMetricTable) {
    EXPECT_EQ(std::string(spec.name).find("milli"), std::string::npos);
  }
}

}  // namespace
}  // namespace nanwatch
