#include "json/message.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "nanwatch/v1/query.pb.h"

namespace nanwatch {
namespace {

using Json = nlohmann::json;

TEST(RunJson, ZerosStandThereAndWhatIsNotHasNoKey) {
  v1::RunDetail run;
  run.mutable_summary()->set_run_id("a");
  v1::StepValue& loss = *run.mutable_summary()->add_values();
  loss.set_field("loss");
  loss.set_last(std::numeric_limits<double>::quiet_NaN());
  v1::Incident& incident = *run.add_incidents();
  incident.set_id(0x4d);
  incident.mutable_subject()->set_rank(-1);
  v1::Incident& of_rank = *run.add_incidents();
  of_rank.set_id(0xfedcba9876543210);
  of_rank.mutable_subject()->set_rank(0);
  of_rank.mutable_subject()->set_op("head");
  of_rank.set_fired_us(7);
  v1::Subject& origin = *run.add_causes()->mutable_origin();
  origin.set_op("head");
  origin.set_dtype("fp16");
  const Json json = Json::parse(RunJson(run));
  EXPECT_EQ(json["summary"]["last_step"], "0");
  EXPECT_EQ(json["summary"]["attempt"], 0);
  EXPECT_EQ(json["summary"]["overflows"], "0");
  EXPECT_EQ(json["summary"]["values"][0]["last"], "NaN");
  EXPECT_FALSE(json["summary"]["values"][0].contains("last_finite"));
  EXPECT_FALSE(json["summary"].contains("ended_us"));
  EXPECT_EQ(json["incidents"][0]["id"], "000000000000004d");
  EXPECT_EQ(json["incidents"][0]["subject"], Json::object());
  EXPECT_EQ(json["incidents"][0]["muted"], false);
  EXPECT_FALSE(json["incidents"][0].contains("fired_us"));
  EXPECT_FALSE(json["incidents"][0].contains("resolved_step"));
  EXPECT_EQ(json["incidents"][1]["id"], "fedcba9876543210");
  EXPECT_EQ(json["incidents"][1]["subject"],
            Json({{"rank", 0}, {"op", "head"}}));
  EXPECT_EQ(json["incidents"][1]["fired_us"], "7");
  EXPECT_EQ(json["causes"][0]["origin"],
            Json({{"rank", 0}, {"op", "head"}, {"dtype", "fp16"}}));
  EXPECT_EQ(json["ranks"], Json::array());
}

TEST(RunJson, AnUpdateHasItsOldKeyBesideTheNew) {
  v1::RunDetail detail;
  detail.mutable_summary()->set_attempts(7);
  const Json without = Json::parse(RunJson(detail));
  EXPECT_EQ(without["summary"]["attempts"], "7");
  EXPECT_EQ(without["summary"]["update_attempts"], "7");
  detail.mutable_scaler()->set_attempts_to_floor(9);
  const Json json = Json::parse(RunJson(detail));
  EXPECT_EQ(json["scaler"]["attempts_to_floor"], "9");
  EXPECT_EQ(json["scaler"]["updates_to_floor"], "9");
}

TEST(RunJson, WhatWasNotCollectedHasNoKey) {
  v1::ListRunsResponse runs;
  v1::RunSummary& known = *runs.add_runs();
  known.set_steps(7);
  known.set_attempts(7);
  v1::RunSummary& unknown = *runs.add_runs();
  unknown = known;
  unknown.set_overflow_unknown(7);
  unknown.set_skipped_unknown(7);
  unknown.set_fate_unknown(7);
  v1::RunDetail detail;
  *detail.mutable_summary() = unknown;
  v1::RankSummary& rank = *detail.add_ranks();
  rank.set_steps(7);
  rank.set_overflow_unknown(7);
  const Json list = Json::parse(RunJson(runs))["runs"];
  const Json of_rank = Json::parse(RunJson(detail))["ranks"][0];
  EXPECT_EQ(of_rank["rank"], 0);
  for (const char* key : {"overflows", "skipped", "applied"}) {
    EXPECT_EQ(list[0][key], "0") << key;
    EXPECT_FALSE(list[1].contains(key)) << key;
    EXPECT_FALSE(of_rank.contains(key)) << key;
  }
}

}  // namespace
}  // namespace nanwatch
