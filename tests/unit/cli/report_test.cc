#include "cli/report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "model/finding.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kScreen = 40;  // lines

long Lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

// A NaN born in `origin`, which 60 modules passed on.
v1::RunDetail OfManyModules() {
  v1::RunDetail run;
  v1::RunSummary& summary = *run.mutable_summary();
  summary.set_run_id("job-7");
  summary.set_headline("NaN is born in origin.");
  summary.set_headline_cause(0);
  run.add_ranks();
  v1::CauseVerdict& cause = *run.add_causes();
  cause.set_cause("nan_from_forward");
  cause.set_sentence("NaN is born in origin.");
  cause.mutable_origin()->set_op("origin");
  cause.mutable_origin()->set_slot("output");
  cause.add_evidence()->set_sentence("The loss was not finite.");
  v1::Incident& incident = *run.add_incidents();
  incident.set_cause("nan_from_forward");
  incident.set_rule("op_overflow_origin");
  incident.set_worst(v1::SEVERITY_CRITICAL);
  const auto add = [&](const std::string& rule, const std::string& op) {
    v1::Finding& finding = *incident.add_findings();
    finding.set_rule(rule);
    finding.mutable_subject()->set_op(op);
    finding.mutable_subject()->set_slot("output");
    finding.set_sentence("Bad in " + op + ".");
  };
  for (int i = 0; i < 60; ++i) {
    add("op_overflow_propagated", "module." + std::to_string(i));
    v1::OpSummary& op = *run.add_ops();
    op.set_name("module." + std::to_string(i));
  }
  add("op_overflow_origin", "origin");
  v1::Finding& said = *incident.add_findings();
  said.set_rule("loss_nonfinite");
  said.set_sentence("The loss was not finite.");
  return run;
}

TEST(DiagnosisReport, IsOneScreenAndSaysHowToSeeTheRest) {
  const std::string text = DiagnosisReport(OfManyModules(), Style());
  EXPECT_LE(Lines(text), kScreen);
  EXPECT_THAT(text, HasSubstr("more lines: nanwatch diagnose job-7 --all\n"));
}

TEST(DiagnosisReport, OneOfEachRuleStandsForAll) {
  const std::string text =
      DiagnosisReport(OfManyModules(), Style{.columns = 120});
  EXPECT_THAT(text, HasSubstr("Bad in module.0. And 59 more findings."));
  EXPECT_THAT(text, Not(HasSubstr("module.1")));
}

TEST(DiagnosisReport, WhatStoodWhenTheRunEndedIsOpenAtTheEnd) {
  v1::RunDetail run = OfManyModules();
  v1::Incident& incident = *run.mutable_incidents(0);
  incident.set_state(v1::ALERT_STATE_RESOLVED);
  EXPECT_THAT(DiagnosisReport(run, Style()),
              HasSubstr("critical open at the end op_overflow_origin"));
  incident.set_resolved_step(12);
  EXPECT_THAT(DiagnosisReport(run, Style()),
              HasSubstr("critical resolved        op_overflow_origin"));
}

TEST(DiagnosisReport, WhatIsOlderThanTheNewestRecordSaysSo) {
  v1::RunDetail run = OfManyModules();
  run.mutable_summary()->set_state(v1::LIFE_STATE_OPEN);
  run.mutable_summary()->set_last_step(1261);
  v1::Incident& incident = *run.mutable_incidents(0);
  incident.set_state(v1::ALERT_STATE_FIRING);
  incident.mutable_findings(3)->set_last_step(1215);
  EXPECT_THAT(DiagnosisReport(run, Style()),
              HasSubstr("step 0, seen up to 1215, cause 1\n"));
  run.mutable_summary()->set_last_step(1215);
  EXPECT_THAT(DiagnosisReport(run, Style()), Not(HasSubstr("seen up to")));
}

TEST(DiagnosisReport, RanksOfARunThatEndedNeedNotBeConnected) {
  v1::RunDetail run = OfManyModules();
  run.mutable_summary()->set_world_size(8);
  run.mutable_summary()->set_ranks_open(7);
  EXPECT_THAT(DiagnosisReport(run, Style()),
              HasSubstr("  7 of 8 ranks connected\n"));
  run.mutable_summary()->set_state(v1::LIFE_STATE_CLOSED);
  run.mutable_summary()->set_ranks_open(0);
  run.mutable_summary()->set_ranks_lost(1);
  EXPECT_THAT(DiagnosisReport(run, Style()), HasSubstr("  8 ranks, 1 lost\n"));
}

TEST(DiagnosisReport, TheOriginStandsAboveItsVictims) {
  const std::string text = DiagnosisReport(OfManyModules(), Style());
  EXPECT_LT(text.find("Bad in origin"), text.find("Bad in module.0"));
  const std::string all = DiagnosisReport(OfManyModules(), Style(), true);
  EXPECT_LT(all.find("Bad in origin"), all.find("Bad in module.0"));
}

TEST(DiagnosisReport, AllHasEveryFindingAndNoLastLine) {
  const std::string text = DiagnosisReport(OfManyModules(), Style(), true);
  EXPECT_THAT(text, HasSubstr("Bad in module.59."));
  EXPECT_THAT(text, Not(HasSubstr("--all")));
}

TEST(DiagnosisReport, NothingIsSaidTwice) {
  const std::string text = DiagnosisReport(OfManyModules(), Style(), true);
  for (const std::string said :
       {"NaN is born in origin.", "The loss was not finite."}) {
    EXPECT_EQ(text.find(said), text.rfind(said)) << said;
  }
}

TEST(DiagnosisReport, WhatFitsIsWhole) {
  v1::RunDetail run = OfManyModules();
  run.mutable_incidents(0)->mutable_findings()->DeleteSubrange(3, 57);
  const std::string text = DiagnosisReport(run, Style());
  EXPECT_THAT(text, HasSubstr("Bad in module.2."));
  EXPECT_THAT(text, Not(HasSubstr("--all")));
}

TEST(DiagnosisReport, TheAttemptIsNamedWhereItIsNotTheFirst) {
  v1::RunDetail run = OfManyModules();
  run.mutable_summary()->set_attempt(2);
  EXPECT_THAT(DiagnosisReport(run, Style()),
              HasSubstr("nanwatch diagnose job-7 --attempt 2 --all"));
}

TEST(RunReport, IsOneScreenAndSaysHowToSeeTheRest) {
  const std::string text = RunReport(OfManyModules(), Style(), 0);
  EXPECT_LE(Lines(text), kScreen);
  EXPECT_THAT(text, HasSubstr("more lines: nanwatch show job-7 --all\n"));
  EXPECT_THAT(RunReport(OfManyModules(), Style(), 0, true),
              HasSubstr("module.59"));
}

TEST(RunReport, SpeaksOfLossScalesWhereThereIsOne) {
  v1::RunDetail run = OfManyModules();
  const std::string without = RunReport(run, Style(), 0, true);
  EXPECT_THAT(without, Not(HasSubstr("scale")));
  EXPECT_THAT(without, Not(HasSubstr("overflow")));
  for (auto* values : {run.mutable_summary()->mutable_values(),
                       run.mutable_ranks(0)->mutable_values()}) {
    v1::StepValue& scale = *values->Add();
    scale.set_field("loss_scale");
    scale.set_last(1024);
  }
  const std::string with = RunReport(run, Style(), 0, true);
  EXPECT_THAT(with, HasSubstr("loss scale 1024"));
  EXPECT_THAT(with, HasSubstr("overflows"));
}

}  // namespace
}  // namespace nanwatch
