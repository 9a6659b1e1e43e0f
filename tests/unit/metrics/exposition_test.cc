#include "metrics/exposition.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <thread>

#include "metrics/run_families.h"
#include "model/limits.h"
#include "tests/unit/metrics/sample_run.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Exposition, ConditionsAreThereFromTheStartAtZero) {
  const std::string text = Expose({SampleRun("job-7")});
  for (int f = 0; f < kFamilies; ++f) {
    const std::string name(Name(static_cast<Family>(f)));
    EXPECT_THAT(text, HasSubstr("nanwatch_condition_severity{run_id=\"job-7\","
                                "condition=\"" +
                                name + "\"} 0\n"));
  }
}

Incident Firing(Family family, Severity severity, bool muted) {
  Incident incident;
  incident.state = AlertState::kFiring;
  incident.family = incident.alert_family = family;
  incident.severity = severity;
  incident.muted = muted;
  return incident;
}

// nanwatch_condition_unmuted_severity of a family of "job-7".
std::string Unmuted(std::string_view family, int severity) {
  return "nanwatch_condition_unmuted_severity{run_id=\"job-7\",condition=\"" +
         std::string(family) + "\"} " + std::to_string(severity) + "\n";
}

TEST(Exposition, AlertsGoByWhatNobodyMuted) {
  RunView run = SampleRun("job-7");
  run.incidents = {Firing(Family::kOp, Severity::kCritical, true),
                   Firing(Family::kOp, Severity::kWarning, false),
                   Firing(Family::kLoss, Severity::kCritical, true),
                   Firing(Family::kScale, Severity::kCritical, false)};
  run.incidents.back().state = AlertState::kResolved;
  const std::string text = Expose({run});
  EXPECT_THAT(text, HasSubstr(Unmuted("op", 2)));
  EXPECT_THAT(text, HasSubstr(Unmuted("loss", 0)));
  EXPECT_THAT(text, HasSubstr(Unmuted("scale", 0)));
  EXPECT_THAT(text, HasSubstr(Unmuted("rank", 0)));
}

// A series of the family `op` of "job-7".
std::string Origin(std::string_view what, std::string_view value,
                   std::string_view more = "") {
  return "nanwatch_condition_origin_" + std::string(what) +
         "{run_id=\"job-7\",condition=\"op\"" + std::string(more) + "} " +
         std::string(value) + "\n";
}

TEST(Exposition, AlertsCanSayWhereItBegan) {
  RunView run = SampleRun("job-7");
  run.incidents.assign(4, Firing(Family::kOp, Severity::kCritical, false));
  run.incidents[0].severity = Severity::kWarning;
  run.incidents[0].opened_step = 1;
  run.incidents[1].opened_step = 50;
  run.incidents[2].opened_step = 42;
  run.incidents[2].subject.rank = 3;
  run.incidents[2].subject.op = "loss/Log";
  run.incidents[3].opened_step = 2;
  run.incidents[3].muted = true;
  std::string text = Expose({run}, {Cardinality::kLow});
  EXPECT_THAT(text, HasSubstr(Origin("step", "42")));
  EXPECT_THAT(text, HasSubstr(Origin("rank", "3")));
  EXPECT_THAT(text, HasSubstr(Origin("info", "1", ",op=\"loss/Log\"")));
  EXPECT_EQ(Count(text, "\nnanwatch_condition_origin_"), 3);
  // Of the whole run: no rank, no op.
  run.incidents[2].subject = {};
  text = Expose({run});
  EXPECT_THAT(text, HasSubstr(Origin("step", "42")));
  EXPECT_EQ(Count(text, "\nnanwatch_condition_origin_"), 1);
  for (Incident& incident : run.incidents) incident.muted = true;
  EXPECT_EQ(Count(Expose({run}), "\nnanwatch_condition_origin_"), 0);
}

TEST(Exposition, WhatWasNeverCollectedIsMissing) {
  const std::string text = Expose({SampleRun("job-7")});
  EXPECT_THAT(text, Not(HasSubstr("nanwatch_loss{")));
  EXPECT_THAT(text, Not(HasSubstr("field=\"loss\"")));
}

TEST(Exposition, NanKeepsTheLastFiniteValueAndSaysSo) {
  RunView run = SampleRun("job-7");
  SetValue(StepField::kLoss, 2.5, &run.latest);
  SetValue(StepField::kLoss, kNan, &run.latest);
  const std::string text = Expose({run});
  EXPECT_THAT(text, HasSubstr("nanwatch_loss{run_id=\"job-7\"} 2.5\n"));
  EXPECT_THAT(text, HasSubstr("nanwatch_value_nonfinite{run_id=\"job-7\","
                              "field=\"loss\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("nanwatch_nonfinite_values_total{run_id="
                              "\"job-7\",field=\"loss\"} 1\n"));
}

TEST(Exposition, NeverFiniteHasNoGaugeButTheState) {
  RunView run = SampleRun("job-7");
  SetValue(StepField::kGradNorm, INFINITY, &run.latest);
  const std::string text = Expose({run});
  EXPECT_THAT(text, Not(HasSubstr("nanwatch_grad_norm{")));
  EXPECT_THAT(text, HasSubstr("field=\"grad_norm\"} 1\n"));
}

TEST(Exposition, AttemptStandsOnInfoOnly) {
  RunView run = SampleRun("job-7", 2);
  run.key.attempt = 3;
  run.description.owner = "ann";
  const std::string text = Expose({run}, {Cardinality::kFull});
  EXPECT_EQ(Count(text, "attempt=\"3\""), 1);
  EXPECT_THAT(text, HasSubstr("nanwatch_run_info{run_id=\"job-7\",attempt="));
  EXPECT_THAT(text, HasSubstr(",user=\"ann\","));
}

TEST(Exposition, ShowsTheNewestAttemptOnly) {
  RunView old = SampleRun("job-7");
  RunView fresh = SampleRun("job-7");
  old.key.attempt = 4;
  old.totals.steps = 100;
  fresh.key.attempt = 5;
  fresh.totals.steps = 9;
  const std::string text = Expose({old, fresh});
  EXPECT_THAT(text, HasSubstr("nanwatch_steps_total{run_id=\"job-7\"} 9\n"));
  EXPECT_EQ(Count(text, "\nnanwatch_steps_total{"), 1);
}

TEST(Exposition, RanksUpToTheBoundHaveTheirOwnSeries) {
  const std::string text = Expose({SampleRun("r", limits::kRankSeries)});
  EXPECT_EQ(Count(text, "\nnanwatch_rank_loss{"), limits::kRankSeries);
  EXPECT_THAT(text, Not(HasSubstr("_spread")));
}

TEST(Exposition, AboveTheBoundSpreadAndTheWorst) {
  RunView run = SampleRun("r", limits::kRankSeries + 1);
  RankView& bad = (*std::const_pointer_cast<RankBlock>(run.ranks[0]))[40];
  bad.severity = Severity::kCritical;
  const std::string text = Expose({run});
  EXPECT_EQ(Count(text, "\nnanwatch_rank_loss{"),
            static_cast<int>(kWorstRanks));
  EXPECT_THAT(text, HasSubstr("nanwatch_rank_severity{run_id=\"r\","
                              "rank=\"40\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("nanwatch_rank_loss_spread{run_id=\"r\","
                              "stat=\"min\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("stat=\"median\"} 32\n"));
  EXPECT_THAT(text, HasSubstr("stat=\"max\"} 64\n"));
}

TEST(Exposition, OpsBeyondTheNamedOnesAreOther) {
  RunView run = SampleRun("r");
  for (int i = 0; i < 12; ++i) {
    OpView op;
    op.name = "op" + std::to_string(i);
    op.bad_statuses = 100 - i;
    run.top_ops.push_back(op);
  }
  const std::string text = Expose({run});
  EXPECT_EQ(Count(text, "\nnanwatch_op_bad_statuses_total{"), 10);
  EXPECT_THAT(text, HasSubstr("nanwatch_op_other_bad_statuses{run_id=\"r\"} "
                              "179\n"));
  EXPECT_THAT(Expose({run}, {Cardinality::kLow}), Not(HasSubstr("op=")));
}

TEST(Exposition, LowHasNoRankSeries) {
  const std::string text = Expose({SampleRun("r", 4)}, {Cardinality::kLow});
  EXPECT_THAT(text, Not(HasSubstr("rank=")));
}

TEST(Exposition, ARunHasAtMostEightySeriesOfItsOwn) {
  RunView run = SampleRun("r");
  for (int f = 0; f < kStepFields; ++f) {
    SetValue(static_cast<StepField>(f), 1, &run.latest);
  }
  run.scaler.name = "pytorch";
  run.scaler.floor = 1;
  run.scaler.updates_to_floor = 9;
  FamilySet set;
  AddRun(run, &set);
  EXPECT_LE(set.series(), 80u);
}

TEST(Exposition, LeavesHealthyRunsOutAtTheLimitAndCountsThem) {
  RunView sick = SampleRun("sick");
  sick.severity = Severity::kCritical;
  MetricsOptions options;
  options.series_max = 60;
  const auto snapshot = SnapshotOf({SampleRun("well"), sick});
  const Exposition exposition(
      options, [&] { return snapshot; },
      [] { return std::vector<SelfSample>(); });
  std::string text;
  Render(MetricsFormat::kText004, exposition.Gather(), &text);
  EXPECT_THAT(text, HasSubstr("run_id=\"sick\""));
  EXPECT_THAT(text, Not(HasSubstr("run_id=\"well\"")));
  EXPECT_THAT(text, HasSubstr("nanwatch_series_left_out "));
  EXPECT_THAT(text, Not(HasSubstr("nanwatch_series_left_out 0\n")));
  EXPECT_THAT(text, HasSubstr("nanwatch_series_limit 60\n"));
  std::string again;
  Render(MetricsFormat::kText004, exposition.Gather(), &again);
  EXPECT_EQ(again, text) << "a scrape changes nothing";
}

TEST(Exposition, WhatWasNotCollectedHasNoSeries) {
  RunView run = SampleRun("r");
  run.updates = run.fate_unknown = 7;
  run.totals.overflow_unknown = run.totals.fate_unknown = 7;
  const std::string unknown = Expose({run});
  run.fate_unknown = 6;
  run.totals.overflow_unknown = run.totals.fate_unknown = 0;
  const std::string known = Expose({run});
  for (const char* name :
       {"nanwatch_overflow_steps_total{", "nanwatch_skipped_steps_total{",
        "nanwatch_optimizer_updates_total{"}) {
    EXPECT_THAT(unknown, Not(HasSubstr(name)));
    EXPECT_THAT(known, HasSubstr(name));
  }
}

TEST(Exposition, CollectIsWhatGatherShows) {
  const auto snapshot = SnapshotOf({SampleRun("a"), SampleRun("b")});
  const Exposition exposition(
      {}, [&] { return snapshot; },
      [] {
        return std::vector<SelfSample>{
            {Name(Metric::kIngestRefusals), {{"code", "busy"}}, 3}};
      });
  EXPECT_EQ(exposition.Collect().size(), exposition.Gather().families.size());
  std::string text;
  Render(MetricsFormat::kText004, exposition.Gather(), &text);
  EXPECT_THAT(text,
              HasSubstr("nanwatch_ingest_refusals_total{code=\"busy\"} 3\n"));
}

TEST(Exposition, ScrapesMayRunAtOnce) {
  const auto snapshot = SnapshotOf({SampleRun("a", 8), SampleRun("b", 8)});
  const Exposition exposition(
      {}, [&] { return snapshot; }, [] { return std::vector<SelfSample>(); });
  const size_t expected = exposition.Gather().families.size();
  size_t other = 0;
  std::thread scraper([&] { other = exposition.Gather().families.size(); });
  EXPECT_EQ(exposition.Gather().families.size(), expected);
  scraper.join();
  EXPECT_EQ(other, expected);
}

}  // namespace
}  // namespace nanwatch
