#include "notify/alertmanager.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/notify/notice_fixture.h"

namespace nanwatch {
namespace {

using nlohmann::json;

Alert One() {
  Alert alert;
  alert.shown = Firing(0xabc);
  alert.labels = LabelsOf(alert.shown);
  alert.starts = At(0);
  alert.ends = At(240);
  return alert;
}

TEST(AlertmanagerTest, LabelsAreTheIdentityAndNothingElse) {
  const Alert alert = One();
  const json body = json::parse(AlertsJson({&alert, 1}, {}));
  EXPECT_EQ(body[0]["labels"], json({{"alertname", "NanwatchLossScale"},
                                     {"severity", "critical"},
                                     {"run_id", "job-7"},
                                     {"condition", "scale"}}));
  EXPECT_EQ(body[0]["startsAt"], "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(body[0]["endsAt"], "2023-11-14T22:17:20.000000Z");
  EXPECT_FALSE(body[0].contains("generatorURL"));
}

TEST(AlertmanagerTest, SaysWhyItIsOver) {
  Alert alert = One();
  alert.shown = Muted(alert.shown);
  json body = json::parse(AlertsJson({&alert, 1}, {}));
  EXPECT_EQ(body[0]["annotations"]["resolved_reason"], "muted");
  alert.shown = Resolved(Firing(0xabc), 9);
  body = json::parse(AlertsJson({&alert, 1}, {}));
  EXPECT_EQ(body[0]["annotations"]["resolved_reason"], "cleared");
}

TEST(AlertmanagerTest, AnnotationsSayTheRest) {
  const Alert alert = One();
  const json body = json::parse(
      AlertsJson({&alert, 1}, {"http://gpu7:9765/", "https://wiki/nanwatch"}));
  const json& said = body[0]["annotations"];
  EXPECT_EQ(said["summary"], "Log overflows at every step.");
  EXPECT_EQ(said["description"], "It did.");
  EXPECT_EQ(said["diagnosis"], "harmless_padding");
  EXPECT_EQ(said["action"],
            "Use a fixed loss scale. [ascend_tf] "
            "FixedLossScaleManager(1024).");
  EXPECT_EQ(said["place"], "rank 3 (node7)");
  EXPECT_EQ(said["step"], "42");
  EXPECT_EQ(said["incident"], "0000000000000abc");
  EXPECT_EQ(body[0]["generatorURL"],
            "http://gpu7:9765/?run=job-7&attempt=1&step=42");
  EXPECT_EQ(said["runbook_url"], "https://wiki/nanwatch/NanwatchLossScale.md");
  for (const auto& [name, value] : said.items()) {
    EXPECT_TRUE(value.is_string()) << name;
  }
}

TEST(AlertmanagerTest, NamesThatAreNoUtf8DoNotThrow) {
  Alert alert = One();
  alert.labels.run_id = "run\xff";
  EXPECT_TRUE(json::accept(AlertsJson({&alert, 1}, {})));
}

TEST(AlertmanagerTest, EveryFamilyHasAName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kFamilies; ++i) {
    names.insert(AlertName(static_cast<Family>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kFamilies));
}

}  // namespace
}  // namespace nanwatch
