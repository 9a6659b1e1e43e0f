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

TEST(AlertmanagerTest, ARunThatEndedIsNotCured) {
  Alert alert = One();
  alert.shown = Resolved(Firing(0xabc), 9);
  const std::string summary = alert.shown.incident.summary;
  const auto said = [&] {
    return json::parse(
        AlertsJson({&alert, 1}, {}))[0]["annotations"]["summary"];
  };
  alert.shown.incident.resolved_step = 812;
  EXPECT_EQ(said(), summary);
  alert.shown.incident.resolved_step.reset();
  EXPECT_EQ(said(), "The run ended, and this was not over. " + summary);
}

TEST(AlertmanagerTest, APodIsSaidWithItsNode) {
  Alert alert = One();
  Incident& incident = alert.shown.incident;
  incident.pod = {"train-3", "team-a", "gpu7"};
  incident.device = "NPU 2";
  const auto place = [&] {
    return json::parse(AlertsJson({&alert, 1}, {}))[0]["annotations"]["place"];
  };
  EXPECT_EQ(place(), "rank 3 (node7, NPU 2, pod team-a/train-3 on node gpu7)");
  incident.host = "train-3";  // as a pod's host is
  EXPECT_EQ(place(), "rank 3 (NPU 2, pod team-a/train-3 on node gpu7)");
  incident.pod = {"", "", "gpu7"};
  EXPECT_EQ(place(), "rank 3 (train-3, NPU 2, node gpu7)");
}

TEST(AlertmanagerTest, AnnotationsSayTheRest) {
  const Alert alert = One();
  const json body = json::parse(
      AlertsJson({&alert, 1}, {"http://gpu7:9765/", "https://wiki/nanwatch"}));
  const json& said = body[0]["annotations"];
  EXPECT_EQ(said["summary"], "Log overflows at every step.");
  EXPECT_EQ(said["description"],
            "Began at step 42 in op Log (output), rank 3 (node7). It did.");
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

Finding Found(int32_t rank, const std::string& op, const std::string& said) {
  Finding finding;
  finding.subject.rank = rank;
  finding.subject.op = op;
  finding.sentence = said;
  return finding;
}

TEST(AlertmanagerTest, ADescriptionNamesWhatIsAffectedAndRepeatsNothing) {
  Incident incident = Firing(1).incident;
  incident.findings = {Found(3, "Log", "Log overflows at every step."),
                       Found(3, "Sum", "Bad inputs."),
                       Found(4, "Sum", "Bad inputs."),
                       Found(-1, "", "5 updates in a row overflowed."),
                       Found(-1, "", "5 updates in a row overflowed.")};
  incident.findings[0].in_summary = InSummary::kAll;
  EXPECT_EQ(DescriptionOf(incident),
            "Began at step 42 in op Log (output), rank 3 (node7). Affected, "
            "too: op Sum (output), rank 4. 5 updates in a row overflowed.");
  for (int i = 0; i < 9; ++i) {
    incident.findings.push_back(Found(10 + i, "Sum", "Bad inputs."));
  }
  EXPECT_THAT(DescriptionOf(incident),
              ::testing::HasSubstr("rank 4, rank 10, rank 11 and 7 more."));
  incident.subject = {};
  incident.findings.clear();
  EXPECT_EQ(DescriptionOf(incident), "Began at step 42.");
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
