#include "cli/replay_compare.h"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

#include "detect/all_rules.h"

namespace nanwatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const RunKey kRun{"job-7", 0};

Finding Found(int rule, int32_t rank, std::string sentence) {
  Finding finding;
  finding.rule = RuleIdOf(rule);
  finding.subject.rank = rank;
  finding.severity = Severity::kWarning;
  finding.opened_step = 12;
  finding.sentence = std::move(sentence);
  return finding;
}

Incident Fired() {
  Incident incident;
  incident.id = 77;
  incident.rule = RuleId::kScaleCollapse;
  incident.state = AlertState::kFiring;
  incident.severity = incident.worst = Severity::kWarning;
  incident.opened_step = 12;
  incident.updated = FromMicros(5000);
  incident.summary = "The scale fell to 1.";
  incident.findings = {Found(4, 0, "fell"), Found(1, 1, "overflows")};
  return incident;
}

Notice NoticeOf(Incident incident) {
  Notice notice;
  notice.run = kRun;
  notice.incident = std::move(incident);
  return notice;
}

Snapshot EndsWith(const Incident& incident) {
  auto run = std::make_shared<RunView>();
  run->key = kRun;
  run->incidents = {incident};
  Snapshot snapshot;
  snapshot.runs.Set(0, run);
  return snapshot;
}

std::vector<std::string> Compared(const Incident& was, const Incident& now) {
  const SentIncidents sent = {{kRun, was}};
  return ReplayCompare(sent).Differences(EndsWith(now));
}

TEST(ReplayCompare, TheSameIsTheSame) {
  EXPECT_THAT(Compared(Fired(), Fired()), IsEmpty());
}

TEST(ReplayCompare, NamesWhatAnIncidentIs) {
  Incident now = Fired();
  now.opened_step = 13;
  now.worst = Severity::kCritical;
  EXPECT_THAT(
      Compared(Fired(), now),
      ElementsAre(HasSubstr("worst severity: was warning, now critical"),
                  HasSubstr("opened at step: was 12, now 13")));
}

TEST(ReplayCompare, EachPartOfAFindingCounts) {
  Incident sentence = Fired();
  sentence.findings[1].sentence = "overflows a lot";
  EXPECT_THAT(Compared(Fired(), sentence),
              ElementsAre(HasSubstr("of rank 1: was \"overflows\""),
                          HasSubstr("of rank 1: now \"overflows a lot\"")));
  Incident severity = Fired();
  severity.findings[1].severity = Severity::kInfo;
  EXPECT_THAT(Compared(Fired(), severity),
              ElementsAre(HasSubstr("severity: was warning, now info")));
  Incident opened = Fired();
  opened.findings[1].opened_step = 11;
  EXPECT_THAT(Compared(Fired(), opened),
              ElementsAre(HasSubstr("opened at step: was 12, now 11")));
  Incident subject = Fired();
  subject.findings[1].subject.rank = 2;
  EXPECT_THAT(
      Compared(Fired(), subject),
      ElementsAre(HasSubstr("of rank 1: gone"), HasSubstr("of rank 2: new")));
}

TEST(ReplayCompare, TheSummaryCounts) {
  Incident now = Fired();
  now.summary = "The scale rose.";
  EXPECT_THAT(Compared(Fired(), now), testing::SizeIs(2));
}

TEST(ReplayCompare, WhatWasNotRecordedIsNotCompared) {
  Incident hashed = Fired();
  hashed.summary.clear();
  hashed.findings.clear();
  EXPECT_THAT(Compared(hashed, Fired()), IsEmpty());
}

// The end of a replay is later than a notice: what it is, and its sentences,
// moved on.
TEST(ReplayCompare, WhatItSaysIsOfTheRecordedMoment) {
  Incident later = Fired();
  later.updated = FromMicros(9000);
  later.opened_step = 2;
  later.worst = Severity::kCritical;
  later.findings[0].sentence = "fell further";
  const SentIncidents sent = {{kRun, Fired()}};
  ReplayCompare compare(sent);
  compare.Told(NoticeOf(Fired()));
  compare.Told(NoticeOf(later));
  EXPECT_THAT(compare.Differences(EndsWith(later)), IsEmpty());
  EXPECT_EQ(compare.of_another_moment(), 0u);

  Incident other = Fired();
  other.findings[0].sentence = "rose";
  ReplayCompare changed(sent);
  changed.Told(NoticeOf(other));
  EXPECT_THAT(changed.Differences(EndsWith(later)), testing::SizeIs(2));

  Incident same_name = later;
  same_name.opened_step = Fired().opened_step;
  same_name.worst = Fired().worst;
  ReplayCompare untold(sent);
  EXPECT_THAT(untold.Differences(EndsWith(same_name)), IsEmpty());
  EXPECT_EQ(untold.of_another_moment(), 1u);
}

TEST(ReplayCompare, GoneAndNew) {
  Incident other = Fired();
  other.id = 78;
  other.rule = RuleId::kScaleAtFloor;
  EXPECT_THAT(Compared(Fired(), other),
              ElementsAre(HasSubstr("gone: job-7"), HasSubstr("new: job-7")));
}

TEST(ReplayCompare, KnowsHowFarTheRecordedEngineWas) {
  Incident resolved = Fired();
  resolved.resolved = FromMicros(7000);
  const SentIncidents sent = {{kRun, resolved}};
  EXPECT_EQ(ReplayCompare(sent).Until(), FromMicros(7000));
}

}  // namespace
}  // namespace nanwatch
