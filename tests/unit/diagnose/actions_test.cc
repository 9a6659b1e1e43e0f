#include "diagnose/actions.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/advice.h"
#include "diagnose/framework.h"
#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TEST(ActionsTest, EveryCauseHasAGeneralAction) {
  for (int i = 0; i < kCauses; ++i) {
    const std::vector<Action> actions =
        ActionsFor(static_cast<Cause>(i), {}, "no such framework");
    ASSERT_FALSE(actions.empty()) << Name(static_cast<Cause>(i));
    EXPECT_EQ(actions[0].framework, "");
    EXPECT_TRUE(actions[0].sentence.ends_with("."));
  }
}

TEST(ActionsTest, OnlyThoseOfTheRunsFrameworkWhenItIsKnown) {
  for (const Action& action :
       ActionsFor(Cause::kHarmlessPadding, {}, "keras")) {
    EXPECT_TRUE(action.framework.empty() || action.framework == "keras");
  }
  std::set<std::string> all;
  for (const Action& action : ActionsFor(Cause::kHarmlessPadding, {}, "")) {
    all.insert(action.framework);
  }
  EXPECT_EQ(all.size(), 9u);  // Paddle has no advice of its own on padding
  for (const Action& a : ActionsFor(Cause::kHarmlessPadding, {}, "ascend_tf")) {
    ExpectWords(a.sentence);
  }
}

TEST(ActionsTest, AnUnknownProgramIsAdvisedAsPyTorchFirst) {
  for (const Cause cause :
       {Cause::kDivergence, Cause::kCollapseWithUnderflow,
        Cause::kNanFromForward, Cause::kNanFromBackward, Cause::kUnderflow}) {
    const std::vector<Action> actions = ActionsFor(cause, {}, "");
    const auto named =
        std::find_if(actions.begin(), actions.end(),
                     [](const Action& a) { return !a.framework.empty(); });
    ASSERT_NE(named, actions.end()) << Name(cause);
    EXPECT_EQ(named->framework, "pytorch") << Name(cause);
  }
  // What holds for a framework goes before what holds for its base.
  const std::vector<Action> megatron =
      ActionsFor(Cause::kDivergence, {}, "megatron");
  EXPECT_EQ(megatron.back().framework, "megatron");
}

TEST(ActionsTest, NoCureIsAdvisedThatTheRunDeclares) {
  RunDescription run;
  run.scaler.kind = ScalingKind::kStatic;
  run.scaler.overflow_check = false;
  const RunEvidence evidence;
  const CauseVerdict padding{.cause = Cause::kHarmlessPadding};
  const auto cured = [&] {
    return Facts({run, evidence, CauseThresholds(Thresholds())}, {});
  };
  for (const char* framework : {"", "ascend_tf", "pytorch"}) {
    const std::vector<Action> actions = ActionsFor(
        Cause::kHarmlessPadding, SituationOf(cured(), padding), framework);
    ASSERT_EQ(actions.size(), 1u);
    ExpectWords(actions[0].sentence);
  }
  EXPECT_GT(
      ActionsFor(Cause::kScaleIndependentOp, SituationOf(cured(), padding), "")
          .size(),
      1u);
  // A fixed scale that is checked skips updates as any other does.
  for (const std::optional<bool> check : {std::optional<bool>(), {true}}) {
    run.scaler.overflow_check = check;
    EXPECT_GT(ActionsFor(Cause::kHarmlessPadding, SituationOf(cured(), padding),
                         "pytorch")
                  .size(),
              1u);
  }
}

TEST(ActionsTest, ARankThatIsHeardIsNotLookedForInACollective) {
  const RunDescription run;
  const RunEvidence evidence;
  const CauseVerdict silence{.cause = Cause::kSilence,
                             .rules = {RuleId::kStalled, RuleId::kTelemetryGap,
                                       RuleId::kMetricAbsentAsZero}};
  std::vector<Finding> findings(1);
  findings[0].rule = RuleId::kTelemetryGap;
  findings[0].severity = Severity::kWarning;
  findings[0].numbers = {{"dropped_steps", 7, "records"},
                         {"dropped_ops", 0, "records"},
                         {"lost_ranks", 0, "ranks"},
                         {"never_opened", 0, "ranks"}};
  const auto first = [&] {
    const Facts f({run, evidence, CauseThresholds(Thresholds())}, findings);
    const auto actions =
        ActionsFor(Cause::kSilence, SituationOf(f, silence), "pytorch");
    EXPECT_EQ(actions.size(), 1u);
    return actions.at(0).sentence;
  };
  ExpectWords(first());
  findings[0].numbers[2].value = 1;
  ExpectWords(first());
  findings[0].numbers[2].value = 0;
  findings.emplace_back().rule = RuleId::kStalled;
  ExpectWords(first());
}

// What a situation is where these are found, and `verdict` explains them.
Situation SituationWith(const RunEvidence& evidence,
                        const std::vector<Finding>& findings, Cause cause) {
  const RunDescription run;
  CauseVerdict verdict{.cause = cause};
  for (const Finding& finding : findings) verdict.rules.Add(finding.rule);
  const Facts f({run, evidence, CauseThresholds(Thresholds())}, findings);
  return SituationOf(f, verdict);
}

Finding FindingOf(RuleId rule, std::vector<EvidenceNumber> numbers) {
  Finding finding;
  finding.rule = rule;
  finding.family =
      rule == RuleId::kGnormSpike ? Family::kGradient : Family::kLoss;
  finding.severity = Severity::kWarning;
  finding.numbers = std::move(numbers);
  return finding;
}

TEST(ActionsTest, OnlyASpikeIsWaitedFor) {
  using Course = Situation::Course;
  const auto course = [](const std::vector<Finding>& findings) {
    return SituationWith({}, findings, Cause::kDivergence).course;
  };
  const Finding spike = FindingOf(RuleId::kLossSpike, {{"records", 5, ""}});
  EXPECT_EQ(course({spike}), Course::kPasses);
  EXPECT_EQ(course({FindingOf(RuleId::kLossSpike, {{"records", 64, ""}})}),
            Course::kStays);
  EXPECT_EQ(course({spike, FindingOf(RuleId::kLossHighPlateau, {})}),
            Course::kStays);
  EXPECT_EQ(course({FindingOf(RuleId::kLossSpike, {{"stands", 4, ""}})}),
            Course::kStays);
  EXPECT_EQ(course({FindingOf(RuleId::kGnormSpike, {{"records", 64, ""}})}),
            Course::kNormStays);
  EXPECT_EQ(course({FindingOf(RuleId::kGnormSpike, {{"grown_from", 1, ""}})}),
            Course::kGrows);
}

TEST(ActionsTest, ANanIsOutlivedWhereItIsOnAllRanks) {
  RunEvidence e;
  e.loss_finite = 100;
  e.loss_nonfinite = 2;
  std::vector<Finding> findings = {
      FindingOf(RuleId::kLossNonfinite, {{"outlived", 1, ""}})};
  EXPECT_TRUE(SituationWith(e, findings, Cause::kNanFromForward).outlived);
  findings.push_back(FindingOf(RuleId::kLossNonfinite, {}));
  const Situation s = SituationWith(e, findings, Cause::kNanFromForward);
  EXPECT_FALSE(s.outlived);
  EXPECT_FALSE(s.never_finite);
  e.loss_finite = 0;
  EXPECT_TRUE(SituationWith(e, findings, Cause::kNanFromForward).never_finite);
}

TEST(ActionsTest, WhatHasAdviceOfItsOwnIsNoLossToLearnByHeart) {
  const auto situation = [](RuleId rule, std::vector<EvidenceNumber> numbers) {
    return SituationWith({}, {FindingOf(rule, std::move(numbers))},
                         Cause::kUnexplained);
  };
  const Situation rival = situation(RuleId::kRivalGone, {});
  EXPECT_EQ(rival.part, RuleId::kRivalGone);
  EXPECT_FALSE(rival.of_loss);
  EXPECT_TRUE(situation(RuleId::kLossNotDecreasing, {}).of_loss);
  const Situation still =
      situation(RuleId::kLossNotDecreasing, {{"grad_norm", 0, ""}});
  EXPECT_EQ(still.part, RuleId::kGradVanishing);
  EXPECT_FALSE(still.of_loss);
}

TEST(ActionsTest, OneStartsAnewWhereNothingIsLost) {
  for (const int64_t step : {2, 11, 812}) {
    ExpectWords(WithWayBack("{Back}{data}.", step));
  }
  ExpectWords(WithWayBack("{Back}.", 812, true));
}

TEST(FrameworkTest, IsWhatTheRunSaysElseWhatItsScalerTells) {
  RunDescription run;
  RunEvidence evidence;
  EXPECT_EQ(FrameworkOf(run, evidence), "");
  evidence.scaler = "jmp";
  EXPECT_EQ(FrameworkOf(run, evidence), "jax");
  run.framework = "event_table";
  EXPECT_EQ(FrameworkOf(run, evidence), "jax");
  run.framework = "Megatron-LM";
  EXPECT_EQ(FrameworkOf(run, evidence), "megatron");
}

TEST(FrameworkTest, ProgramsThatPrintLogsAreUnderstood) {
  static constexpr struct {
    const char* program;
    const char* framework;
  } kCases[] = {
      {"megatron+deepspeed", "megatron+deepspeed"},
      {"hf_trainer+deepspeed", "deepspeed+hf_trainer"},
      {"gnmt+apex", "apex"},
      {"gnmt", "pytorch"},
      {"maskrcnn+fp16_optimizer", "apex"},
      {"nvidia_bert", "apex"},
      {"fairseq", "fairseq"},
      {"metaseq", "fairseq"},
      {"mindformers", "mindformers"},
      {"mindyolo", "mindyolo"},
      {"MindSpeed-LLM", "megatron"},
      {"torch_npu", "torch_npu"},
      {"PyTorch", "pytorch"},
      {"paddlenlp", "paddle"},
      {"paddle_amp", "paddle"},
      {"llama_factory", "hf_trainer"},
      {"trl", "hf_trainer"},
      {"lightning", "lightning"},
      {"nemo", "nemo"},
      {"mmcv", "mmcv"},
      {"tf_npu", "ascend_tf"},
      {"keras", "keras"},
      {"key_value", ""},
      {"controlled", ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(FrameworkOf({.framework = c.program}, {}), c.framework)
        << c.program;
  }
}

// Neither a program nor a piece of advice names a framework that is not known.
TEST(FrameworkTest, AdviceIsOfKnownFrameworks) {
  for (const std::span<const Advice> all :
       {AdviceOnScales(), AdviceOnValues()}) {
    for (const Advice& advice : all) {
      EXPECT_TRUE(advice.framework.empty() ||
                  FindFramework(advice.framework) != nullptr)
          << advice.framework;
      const char end = advice.sentence.back();
      EXPECT_TRUE(end == '.' || end == ':') << advice.sentence;
    }
  }
}

// A collapse is mended by a switch, and every framework has another.
TEST(ActionsTest, EveryFrameworkHasItsOwnSwitchAgainstACollapse) {
  for (const char* framework : {
           "deepspeed",
           "megatron",
           "apex",
           "fairseq",
           "mindspore",
           "mindformers",
           "mindyolo",
           "torch_npu",
           "paddle",
           "hf_trainer",
           "lightning",
           "keras",
           "jax",
           "mmcv",
           "mmengine",
           "nemo",
           "pytorch",
           "ascend_tf",
       }) {
    const std::vector<Action> actions =
        ActionsFor(Cause::kCollapseWithUnderflow, {}, framework);
    ASSERT_EQ(actions.size(), 2u) << framework;
    EXPECT_EQ(actions[1].framework, framework);
    ExpectWords(actions[1].sentence);
  }
}

TEST(ActionsTest, EachOfSeveralFrameworksIsAdvised) {
  const std::vector<Action> actions =
      ActionsFor(Cause::kCollapseWithUnderflow, {}, "megatron+deepspeed");
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(actions[1].framework, "megatron");
  EXPECT_EQ(actions[2].framework, "deepspeed");
}

TEST(ActionsTest, WhatAFrameworkIsBuiltOnHelpsOutButNotWithItsScaler) {
  std::vector<Action> actions =
      ActionsFor(Cause::kScaleIndependentOp, {}, "megatron+deepspeed");
  ASSERT_EQ(actions.size(), 2u);  // once, though both are built on it
  EXPECT_EQ(actions[1].framework, "pytorch");
  actions = ActionsFor(Cause::kScalerMisuse, {}, "deepspeed");
  EXPECT_EQ(actions.size(), 1u);
  actions = ActionsFor(Cause::kScalerMisuse, {}, "lightning");
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[1].framework, "pytorch");
}

TEST(ActionsTest, ALogIsNotAskedForOpStatuses) {
  const std::vector<Action> client = ActionsFor(Cause::kUnexplained, {}, "");
  ASSERT_EQ(client.size(), 1u);
  ExpectWords(client[0].sentence);
  for (const char* framework :
       {"megatron", "fairseq", "hf_trainer", "mindformers", "paddle", "keras",
        "jax", "lightning", "torch_npu", "ascend_tf", "gnmt+apex"}) {
    const std::vector<Action> log =
        ActionsFor(Cause::kUnexplained, {.ops_collected = false},
                   FrameworkOf({.framework = framework}, {}));
    ASSERT_EQ(log.size(), 2u) << framework;
    ExpectWords(log[0].sentence);
    EXPECT_FALSE(log[1].framework.empty());
  }
}

}  // namespace
}  // namespace nanwatch
