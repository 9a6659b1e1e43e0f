#include "alert/incident_book.h"

#include <gmock/gmock.h>

#include "tests/unit/alert/book_fixture.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class IncidentBookTest : public ::testing::Test {
 protected:
  void Update(int64_t seconds, std::vector<Finding> findings,
              const Diagnosis& diagnosis = {}) {
    changed_.clear();
    book_.Update(
        At(seconds), seconds, findings, diagnosis,
        [](int32_t rank) {
          return RankPlace{"node" + std::to_string(rank), "H200"};
        },
        &changed_);
  }
  void Advance(int64_t seconds) {
    changed_.clear();
    book_.Advance(At(seconds), &changed_);
  }
  void Annotate(int64_t seconds, Annotation annotation) {
    book_.Annotate(At(seconds), annotation);
    Advance(seconds);
  }

  static Diagnosis Padding() {
    CauseVerdict verdict;
    verdict.cause = Cause::kHarmlessPadding;
    verdict.grade = EvidenceGrade::kEstablished;
    verdict.sentence = "harmless";
    verdict.origin.op = "Log";
    verdict.rules = {RuleId::kScaleCollapse, RuleId::kOpSaturation,
                     RuleId::kOpInternalOverflow};
    verdict.uncapped = {RuleId::kScaleCollapse};
    verdict.ops = {"Log"};
    verdict.ceiling = Severity::kInfo;
    return CausedBy(verdict);
  }

  IncidentBook book_{{"run", 0}, {}};
  std::vector<Incident> changed_;
};

TEST_F(IncidentBookTest, OneCauseIsOneIncidentWithItsChildren) {
  Update(0,
         {OpFinding(21, "Log", Severity::kWarning, 3),
          ScaleFinding(4, Severity::kCritical, 9)},
         Padding());
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_EQ(changed_[0].state, AlertState::kFiring);
  EXPECT_EQ(changed_[0].cause, Cause::kHarmlessPadding);
  EXPECT_EQ(changed_[0].severity, Severity::kCritical);
  EXPECT_EQ(changed_[0].subject.op, "Log");
  EXPECT_EQ(changed_[0].opened_step, 3);
  EXPECT_EQ(changed_[0].summary, "harmless");
  ASSERT_THAT(changed_[0].findings, SizeIs(2));
  EXPECT_EQ(changed_[0].findings[0].rule, RuleId::kOpSaturation);
  EXPECT_EQ(book_.worst(), Severity::kCritical);
}

TEST_F(IncidentBookTest, TheCeilingLowersAndNewEvidenceRaises) {
  Update(0, {OpFinding(21, "Log", Severity::kCritical, 3)}, Padding());
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_EQ(changed_[0].severity, Severity::kInfo);
  Update(1, {OpFinding(21, "Log", Severity::kCritical, 3)});
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_EQ(changed_[0].severity, Severity::kCritical);
  EXPECT_EQ(changed_[0].worst, Severity::kCritical);
  Update(2, {OpFinding(21, "Log", Severity::kCritical, 3)}, Padding());
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_EQ(changed_[0].severity, Severity::kInfo);
  EXPECT_THAT(book_.incidents(), SizeIs(1));
}

TEST_F(IncidentBookTest, AnotherOpIsAnotherIncident) {
  Update(0, {OpFinding(21, "Log", Severity::kCritical, 3)}, Padding());
  const uint64_t first = book_.incidents()[0].id;
  Update(1,
         {OpFinding(21, "Log", Severity::kCritical, 3),
          OpFinding(21, "Exp", Severity::kCritical, 5)},
         Padding());
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_NE(changed_[0].id, first);
  EXPECT_EQ(changed_[0].severity, Severity::kCritical);
  EXPECT_EQ(book_.incidents()[0].severity, Severity::kInfo);
}

TEST_F(IncidentBookTest, IncidentsOfOneCauseBecomeOne) {
  Update(0, {OpFinding(21, "Log", Severity::kWarning, 3),
             ScaleFinding(4, Severity::kCritical, 9)});
  ASSERT_THAT(changed_, SizeIs(2));
  const uint64_t first = changed_[0].id;
  Update(60,
         {OpFinding(21, "Log", Severity::kWarning, 3),
          ScaleFinding(4, Severity::kCritical, 9)},
         Padding());
  ASSERT_THAT(changed_, SizeIs(2));
  EXPECT_EQ(changed_[0].id, first);
  EXPECT_EQ(changed_[0].severity, Severity::kCritical);
  EXPECT_EQ(changed_[1].state, AlertState::kResolved);
  EXPECT_EQ(changed_[1].resolved_reason, "explained by another incident");
}

Finding LossFinding(Severity severity, int64_t step) {
  Finding finding = ScaleFinding(34, severity, step);
  finding.family = Family::kLoss;
  finding.subject.rank = 2;
  return finding;
}

Finding NormFinding(Severity severity, int64_t step) {
  Finding finding = ScaleFinding(27, severity, step);
  finding.family = Family::kGradient;
  return finding;
}

Diagnosis Diverges(RuleId rule) {
  CauseVerdict verdict;
  verdict.cause = Cause::kDivergence;
  verdict.rules = {RuleId::kGnormSpike, RuleId::kLossSpike};
  verdict.rule = rule;
  verdict.sentence = "The training diverges.";
  return CausedBy(verdict);
}

TEST_F(IncidentBookTest, IsNamedAfterWhatItsCauseRestsOn) {
  Update(0, {NormFinding(Severity::kWarning, 7)},
         Diverges(RuleId::kGnormSpike));
  EXPECT_EQ(book_.incidents()[0].family, Family::kGradient);
  const uint64_t id = book_.incidents()[0].id;
  Update(
      5,
      {NormFinding(Severity::kWarning, 7), LossFinding(Severity::kWarning, 9)},
      Diverges(RuleId::kLossSpike));
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_THAT(changed_, SizeIs(1));
  const Incident& incident = book_.incidents()[0];
  EXPECT_EQ(incident.id, id);
  EXPECT_EQ(incident.rule, RuleId::kLossSpike);
  EXPECT_EQ(incident.family, Family::kLoss);
  EXPECT_EQ(incident.opened_step, 7) << "where it began";
  EXPECT_EQ(incident.subject.rank, 2);
  EXPECT_EQ(incident.findings[0].rule, RuleId::kLossSpike);
  EXPECT_EQ(incident.findings[1].rule, RuleId::kGnormSpike);
  // Who was paged is not paged anew.
  EXPECT_EQ(incident.alert_family, Family::kGradient);
  // The loss is back first: the name stays.
  Update(20, {NormFinding(Severity::kWarning, 7)},
         Diverges(RuleId::kGnormSpike));
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_EQ(book_.incidents()[0].rule, RuleId::kLossSpike);
  EXPECT_EQ(book_.incidents()[0].opened_step, 7);
  // Another cause knows better.
  Diagnosis nan = Diverges(RuleId::kGnormSpike);
  nan.causes[0].cause = Cause::kNanFromForward;
  Update(25, {NormFinding(Severity::kWarning, 7)}, nan);
  EXPECT_EQ(book_.incidents()[0].rule, RuleId::kGnormSpike);
}

TEST_F(IncidentBookTest, AlertsGoByTheNameOfTheFirstWarning) {
  Update(0, {NormFinding(Severity::kInfo, 7)}, Diverges(RuleId::kGnormSpike));
  EXPECT_EQ(book_.incidents()[0].alert_family, Family::kGradient);
  Update(5,
         {NormFinding(Severity::kInfo, 7), LossFinding(Severity::kWarning, 9)},
         Diverges(RuleId::kLossSpike));
  EXPECT_EQ(book_.incidents()[0].alert_family, Family::kLoss);
  std::string bytes;
  book_.Save(&bytes);
  IncidentBook loaded({"run", 0}, {});
  ASSERT_TRUE(loaded.Load(bytes));
  Update(60, {});
  Update(100, {NormFinding(Severity::kWarning, 70)},
         Diverges(RuleId::kGnormSpike));
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_EQ(book_.incidents()[0].reopened, 1);
  EXPECT_EQ(book_.incidents()[0].rule, RuleId::kGnormSpike)
      << "about what is there now";
  EXPECT_EQ(book_.incidents()[0].alert_family, Family::kGradient);
  // A checkpoint knows the name, and that it is the cause's.
  loaded.Update(At(6), 9, std::vector{NormFinding(Severity::kWarning, 7)}, {},
                nullptr, &changed_);
  EXPECT_EQ(loaded.incidents()[0].rule, RuleId::kLossSpike);
  EXPECT_EQ(loaded.incidents()[0].alert_family, Family::kLoss);
}

TEST_F(IncidentBookTest, WhatTakesAnotherInIsAsBadAsThatWas) {
  Update(0, {OpFinding(21, "Log", Severity::kWarning, 3),
             ScaleFinding(4, Severity::kCritical, 9)});
  Update(60,
         {OpFinding(21, "Log", Severity::kWarning, 3),
          ScaleFinding(4, Severity::kWarning, 9)},
         Padding());
  ASSERT_THAT(book_.incidents(), SizeIs(2));
  EXPECT_EQ(book_.incidents()[0].severity, Severity::kWarning);
  EXPECT_EQ(book_.incidents()[0].worst, Severity::kCritical);
  EXPECT_EQ(book_.incidents()[1].resolved_reason, kExplainedElsewhere);
}

TEST_F(IncidentBookTest, ManyRanksAreOneIncident) {
  std::vector<Finding> findings;
  for (int rank = 0; rank < 1000; ++rank) {
    findings.push_back(ScaleFinding(5, Severity::kWarning, 7));
    findings.back().subject.rank = 999 - rank;
  }
  Update(0, findings);
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_EQ(book_.incidents()[0].subject.rank, 0);
  EXPECT_EQ(book_.incidents()[0].host, "node0");
  EXPECT_THAT(book_.incidents()[0].findings, SizeIs(64));
}

Finding OfRank(int rank, int64_t step) {
  Finding finding = ScaleFinding(5, Severity::kWarning, step);
  finding.subject.rank = rank;
  return finding;
}

TEST_F(IncidentBookTest, WhichRankIsHeardFirstDoesNotShow) {
  Update(0, {OfRank(2, 7)});
  const uint64_t id = book_.incidents()[0].id;
  EXPECT_EQ(book_.incidents()[0].host, "node2");
  Update(1, {OfRank(1, 7), OfRank(2, 7)});
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_EQ(book_.incidents()[0].subject.rank, 1);
  EXPECT_EQ(book_.incidents()[0].host, "node1");
  EXPECT_EQ(book_.incidents()[0].id, id);
  // A rank that lags tells of an earlier step.
  Update(2, {OfRank(1, 7), OfRank(2, 7), OfRank(3, 5)});
  EXPECT_EQ(book_.incidents()[0].subject.rank, 3);
  EXPECT_EQ(book_.incidents()[0].opened_step, 5);
  // It stays so named when that one is over and the others are not.
  Update(3, {OfRank(1, 7), OfRank(2, 7)});
  EXPECT_EQ(book_.incidents()[0].subject.rank, 3);
  IncidentBook other({"run", 0}, {});
  other.Update(At(0), 7, std::vector{OfRank(1, 7)}, {}, nullptr, &changed_);
  EXPECT_EQ(other.incidents()[0].id, id);
}

TEST_F(IncidentBookTest, OneRankAfterAnotherIsOneIncident) {
  Update(0, {OfRank(2, 7)});
  Update(10, {});
  // While it lasts it is named after where it began,
  Update(20, {OfRank(0, 15)});
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_EQ(book_.incidents()[0].subject.rank, 2);
  EXPECT_EQ(book_.incidents()[0].opened_step, 7);
  // and when it comes back after its end, anew.
  Update(90, {});
  ASSERT_EQ(book_.incidents()[0].state, AlertState::kResolved);
  Update(100, {OfRank(1, 60)});
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_EQ(book_.incidents()[0].subject.rank, 1);
  EXPECT_EQ(book_.incidents()[0].reopened, 1);
}

TEST_F(IncidentBookTest, ANewPolicyIsForHoldsThatBegin) {
  Update(0, {OfRank(0, 7)});
  Update(10, {});
  book_.SetPolicy({.hold = std::chrono::seconds(100)});
  EXPECT_EQ(book_.NextTimer(), At(45));
  Update(50, {OfRank(0, 9)});
  Update(60, {});
  EXPECT_EQ(book_.NextTimer(), At(150));
}

TEST_F(IncidentBookTest, OneCauseThatGoesOnIsOneIncidentWhateverItsFindings) {
  CauseVerdict verdict;
  verdict.cause = Cause::kRangeOverflow;
  verdict.rules = {RuleId::kOpOverflowOrigin};
  Update(0, {OpFinding(18, "MatMulGrad", Severity::kInfo, 0)},
         CausedBy(verdict));
  Update(10, {});
  Update(20, {OpFinding(18, "ReluGrad", Severity::kInfo, 15)},
         CausedBy(verdict));
  EXPECT_THAT(book_.incidents(), SizeIs(1));
}

TEST_F(IncidentBookTest, AtOneStepTheOpComesBeforeTheScale) {
  Finding scale = OpFinding(8, "Rsqrt", Severity::kCritical, 9);
  scale.family = Family::kScale;
  CauseVerdict verdict;
  verdict.cause = Cause::kNanFromForward;
  verdict.rules = {RuleId::kOverflowNotScaleDependent,
                   RuleId::kOpOverflowOrigin};
  Update(0, {scale, OpFinding(18, "Rsqrt", Severity::kCritical, 9)},
         CausedBy(verdict));
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_EQ(book_.incidents()[0].family, Family::kOp);
}

TEST_F(IncidentBookTest, NothingChangedIsNoNews) {
  const Finding finding = ScaleFinding(4, Severity::kWarning, 0);
  Update(0, {finding});
  Update(0, {finding});
  EXPECT_THAT(changed_, IsEmpty());
  Finding later = finding;
  later.sentence = "newer numbers";
  Update(1, {later});
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_EQ(book_.incidents()[0].summary, "newer numbers");
}

TEST_F(IncidentBookTest, TimerResolvesAtItsDueTime) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 0)});
  Update(10, {});
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_EQ(book_.NextTimer(), At(45));
  Advance(100);
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_EQ(changed_[0].resolved, At(45));
  EXPECT_EQ(changed_[0].resolved_step, 1) << "after its last step";
  EXPECT_EQ(changed_[0].resolved_reason, "cleared");
  EXPECT_EQ(book_.NextTimer(), std::nullopt);
}

TEST_F(IncidentBookTest, ReopensWithinAQuarterOfAnHourAndNotLater) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 0)});
  const uint64_t id = book_.incidents()[0].id;
  Update(60, {});
  Update(60 + 900, {ScaleFinding(4, Severity::kWarning, 50)});
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_EQ(changed_[0].id, id);
  EXPECT_EQ(changed_[0].reopened, 1);
  EXPECT_EQ(changed_[0].resolved, std::nullopt);
  Update(1100, {});
  Update(1100 + 901, {ScaleFinding(4, Severity::kWarning, 90)});
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_NE(changed_[0].id, id);
}

TEST_F(IncidentBookTest, KeepsItsFirstStepUntilItIsOver) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 7)});
  Update(10, {});
  Update(30, {ScaleFinding(4, Severity::kWarning, 50)});  // within the hold
  ASSERT_THAT(book_.incidents(), SizeIs(1));
  EXPECT_EQ(book_.incidents()[0].opened_step, 7);
  EXPECT_EQ(book_.incidents()[0].reopened, 0);
}

TEST_F(IncidentBookTest, TellsThatItBeganEarlier) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 50)});
  Update(10, {ScaleFinding(4, Severity::kWarning, 7)});  // another rank's
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_EQ(changed_[0].opened_step, 7);
}

TEST_F(IncidentBookTest, CloseResolvesEverythingAtOnce) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 0),
             OpFinding(21, "Log", Severity::kWarning, 0)});
  changed_.clear();
  book_.Close(At(1), "run closed", &changed_);
  ASSERT_THAT(changed_, SizeIs(2));
  EXPECT_EQ(changed_[0].resolved_reason, "run closed");
  EXPECT_EQ(changed_[1].state, AlertState::kResolved);
  EXPECT_EQ(book_.worst(), Severity::kNone);
  EXPECT_EQ(book_.NextTimer(), std::nullopt);
}

TEST_F(IncidentBookTest, AMutedIncidentIsToldOnceAndThenNoMore) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 0)});
  Annotation mute;
  mute.incident = book_.incidents()[0].id;
  mute.until = At(100);
  Annotate(1, mute);
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_TRUE(changed_[0].muted);
  Update(2, {ScaleFinding(4, Severity::kCritical, 0)});
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_EQ(book_.incidents()[0].severity, Severity::kCritical);
  EXPECT_EQ(book_.NextTimer(), At(100));
  Advance(100);
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_FALSE(changed_[0].muted);
  EXPECT_EQ(changed_[0].severity, Severity::kCritical);
}

TEST_F(IncidentBookTest, AMutedRuleIsNeverTold) {
  Annotation mute;
  mute.rule = RuleId::kScaleCollapse;
  Annotate(0, mute);
  Update(1, {ScaleFinding(4, Severity::kWarning, 0)});
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_TRUE(book_.incidents()[0].muted);
  Update(2, {ScaleFinding(4, Severity::kWarning, 0),
             ScaleFinding(5, Severity::kWarning, 1)});
  ASSERT_THAT(changed_, SizeIs(1));
  EXPECT_FALSE(changed_[0].muted);
  Annotation unmute;
  unmute.kind = Annotation::Kind::kUnmute;
  Annotate(3, unmute);
  EXPECT_THAT(changed_, IsEmpty());
}

TEST_F(IncidentBookTest, AcknowledgedBySomebody) {
  Update(0, {ScaleFinding(4, Severity::kWarning, 0)});
  Annotation ack;
  ack.kind = Annotation::Kind::kAcknowledge;
  ack.by = "alice";
  Annotate(1, ack);
  EXPECT_EQ(book_.incidents()[0].acknowledged_by, "alice");
}

TEST_F(IncidentBookTest, IdsAreStable) {
  EXPECT_EQ(IncidentId({"job", 1}, Family::kOp, "Log", 7),
            IncidentId({"job", 1}, Family::kOp, "Log", 7));
  EXPECT_NE(IncidentId({"job", 1}, Family::kOp, "Log", 7),
            IncidentId({"job", 2}, Family::kOp, "Log", 7));
  // Two rules of one family may begin with one subject and step.
  CauseVerdict verdict;
  verdict.cause = Cause::kRangeOverflow;
  verdict.rules = {RuleId::kOverflowStreak};
  Update(0,
         {ScaleFinding(4, Severity::kWarning, 0),
          ScaleFinding(5, Severity::kWarning, 0)},
         CausedBy(verdict));
  ASSERT_THAT(book_.incidents(), SizeIs(2));
  EXPECT_NE(book_.incidents()[0].id, book_.incidents()[1].id);
}

TEST_F(IncidentBookTest, OldestResolvedOnesGoFirst) {
  for (int i = 0; i < 300; ++i) {
    Update(i * 100,
           {OpFinding(21, "op" + std::to_string(i), Severity::kWarning, i)});
  }
  ASSERT_THAT(book_.incidents(), SizeIs(256));
  EXPECT_EQ(book_.incidents()[0].subject.op, "op299");
  EXPECT_EQ(book_.incidents()[1].subject.op, "op298");
  EXPECT_EQ(book_.incidents()[255].subject.op, "op44");
  EXPECT_EQ(book_.limit_hits(), 0u);
}

TEST_F(IncidentBookTest, TooManyOpenOnesAreCounted) {
  std::vector<Finding> findings;
  for (int i = 0; i < 300; ++i) {
    findings.push_back(
        OpFinding(21, "op" + std::to_string(i), Severity::kWarning, i));
  }
  Update(0, findings);
  EXPECT_THAT(book_.incidents(), SizeIs(256));
  EXPECT_EQ(book_.limit_hits(), 44u);
}

class BookCheckpointTest : public IncidentBookTest {
 protected:
  void SetUp() override {
    Update(0, {OpFinding(21, "Log", Severity::kWarning, 3)}, Padding());
    Finding finding = ScaleFinding(5, Severity::kWarning, 9);
    finding.numbers.push_back({"overflows", 5, "updates"});
    Update(5, {finding});
    Annotation mute;
    mute.rule = RuleId::kScaleLimitCycle;
    Annotate(6, mute);
    book_.Save(&bytes_);
  }
  std::string bytes_;
};

TEST_F(BookCheckpointTest, LoadedBookGoesOnAsTheSavedOne) {
  IncidentBook loaded({"run", 0}, {});
  ASSERT_TRUE(loaded.Load(bytes_));
  std::string again;
  loaded.Save(&again);
  EXPECT_EQ(again, bytes_);
  EXPECT_EQ(loaded.NextTimer(), book_.NextTimer());
  std::vector<Incident> mine;
  std::vector<Incident> its;
  book_.Update(At(200), 200, {}, {}, nullptr, &mine);
  loaded.Update(At(200), 200, {}, {}, nullptr, &its);
  EXPECT_EQ(mine.size(), its.size());
  EXPECT_THAT(mine, SizeIs(2));
  book_.Save(&bytes_);
  loaded.Save(&again);
  EXPECT_EQ(again, bytes_);
}

TEST_F(BookCheckpointTest, AnyFlippedOrMissingByteIsNoticed) {
  IncidentBook loaded({"run", 0}, {});
  for (size_t i = 0; i < bytes_.size(); ++i) {
    std::string damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_FALSE(loaded.Load(damaged)) << "byte " << i;
    EXPECT_FALSE(loaded.Load(bytes_.substr(0, i))) << "cut at " << i;
    EXPECT_THAT(loaded.incidents(), IsEmpty());
  }
}

TEST_F(BookCheckpointTest, AnotherRunsBytesAreRefused) {
  IncidentBook other({"run", 1}, {});
  EXPECT_FALSE(other.Load(bytes_));
}

}  // namespace
}  // namespace nanwatch
