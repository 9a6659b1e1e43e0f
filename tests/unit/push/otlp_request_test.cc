#include "push/otlp_request.h"

#include <gmock/gmock.h>

#include <cmath>

namespace nanwatch {
namespace {

std::string Find(
    const google::protobuf::RepeatedPtrField<push::v1::KeyValue>& attributes,
    const std::string& key) {
  for (const auto& pair : attributes) {
    if (pair.key() != key) continue;
    return pair.value().has_int_value()
               ? std::to_string(pair.value().int_value())
               : pair.value().string_value();
  }
  return "none";
}

TEST(OtlpRequestTest, ARecordIsAPointOfEachGauge) {
  auto lane = std::make_shared<Lane>();
  lane->key = {{"job", 2}, 3, ""};
  Moment moment;
  moment.lane = lane;
  moment.ms = 5;
  moment.fields = 1u | 1u << kPushedStep;
  moment.value[0] = std::nan("");
  moment.value[kPushedStep] = 7;
  Moment end = moment;
  end.ms = 6;
  end.ends = true;
  const Moment moments[] = {moment, end};
  const auto request = MetricsRequestOf(moments, {"1.2", {{"cluster", "c"}}});
  const auto& all = request.resource_metrics(0);
  EXPECT_EQ(Find(all.resource().attributes(), "service.name"), "nanwatchd");
  EXPECT_EQ(Find(all.resource().attributes(), "cluster"), "c");
  ASSERT_EQ(all.scope_metrics(0).metrics_size(), 2);
  const auto& loss = all.scope_metrics(0).metrics(0);
  EXPECT_EQ(loss.name(), "nanwatch.step.loss");
  ASSERT_EQ(loss.gauge().data_points_size(), 2);
  const auto& point = loss.gauge().data_points(0);
  EXPECT_EQ(point.time_unix_nano(), 5'000'000u);
  EXPECT_TRUE(std::isnan(point.as_double()));
  EXPECT_EQ(point.flags(), 0u);
  EXPECT_EQ(Find(point.attributes(), "nanwatch.run.id"), "job");
  EXPECT_EQ(Find(point.attributes(), "nanwatch.run.attempt"), "2");
  EXPECT_EQ(Find(point.attributes(), "nanwatch.rank"), "3");
  EXPECT_EQ(Find(point.attributes(), "nanwatch.optimizer.name"), "none");
  EXPECT_EQ(loss.gauge().data_points(1).flags(), 1u);
  EXPECT_FALSE(loss.gauge().data_points(1).has_as_double());
}

TEST(OtlpRequestTest, ZeroIsAValue) {
  Moment moment;
  moment.lane = std::make_shared<Lane>();
  moment.fields = 1u << kPushedOverflow;
  const auto request = MetricsRequestOf({&moment, 1}, {});
  push::v1::ExportMetricsRequest heard;
  ASSERT_TRUE(heard.ParseFromString(request.SerializeAsString()));
  const auto& metric = heard.resource_metrics(0).scope_metrics(0).metrics(0);
  EXPECT_EQ(metric.name(), "nanwatch.step.overflow");
  EXPECT_TRUE(metric.gauge().data_points(0).has_as_double());
}

TEST(OtlpRequestTest, AnIncidentIsALogRecord) {
  Notice notice;
  notice.run = {"job", 1};
  notice.incident.id = 0xabc;
  notice.incident.severity = Severity::kCritical;
  notice.incident.state = AlertState::kFiring;
  notice.incident.summary = "The loss is NaN.";
  notice.incident.opened_step = 9;
  notice.incident.subject.rank = 4;
  notice.incident.updated = FromMicros(8);
  Notice over = notice;
  over.resolved = true;
  const auto request = LogsRequestOf({notice, over}, {}, FromMicros(10));
  const auto& records = request.resource_logs(0).scope_logs(0).log_records();
  ASSERT_EQ(records.size(), 2);
  EXPECT_EQ(records[0].event_name(), "nanwatch.incident");
  EXPECT_EQ(records[0].severity_number(), 17);
  EXPECT_EQ(records[0].time_unix_nano(), 8000u);
  EXPECT_EQ(records[0].observed_time_unix_nano(), 10000u);
  EXPECT_EQ(records[0].body().string_value(), "The loss is NaN.");
  const auto& attributes = records[0].attributes();
  EXPECT_EQ(Find(attributes, "nanwatch.incident.id"), "0000000000000abc");
  EXPECT_EQ(Find(attributes, "nanwatch.incident.state"), "firing");
  EXPECT_EQ(Find(attributes, "nanwatch.step"), "9");
  EXPECT_EQ(Find(attributes, "nanwatch.rank"), "4");
  EXPECT_EQ(records[1].severity_number(), 9);
}

}  // namespace
}  // namespace nanwatch
