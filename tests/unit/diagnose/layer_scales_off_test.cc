// Loss scales of layers that do not suit, and what is advised.

#include <gmock/gmock.h>

#include <memory>

#include "diagnose/scale_words.h"
#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Layers that two scales suit; of the first one all is lost.
LayerRangesView TwoGroups() {
  LayerRangesView ranges;
  ranges.layers.push_back({.name = "embed",
                           .lowest = 0x1p32,
                           .highest = 0x1p60,
                           .lost = 1,
                           .all_lost = true,
                           .group = 1});
  for (const char* name : {"blocks.0", "blocks.1", "blocks.2"}) {
    ranges.layers.push_back(
        {.name = name, .lowest = 0x1p24, .highest = 0x1p40, .group = 1});
  }
  ranges.layers.push_back(
      {.name = "norm", .lowest = 1, .highest = 0x1p10, .group = 0});
  ranges.layers.push_back({.name = "head",
                           .lowest = 1,
                           .highest = 0x1p12,
                           .lost = 0.1,
                           .cut = true,
                           .group = 0});
  ranges.layers.push_back(
      {.name = "router", .lowest = 0x1p20, .highest = 0x1p10});
  ranges.layers.push_back({.name = "frozen"});
  ranges.groups = {
      {.scale = 32, .lowest = 1, .highest = 1024},
      {.scale = 0x1p36, .lowest = 0x1p32, .highest = 0x1p40, .bound = true}};
  return ranges;
}

TEST(ScalesInWords, SaysGroupsBoundsAndWhatNoneSuits) {
  const auto sentences = ScalesInWords(TwoGroups(), 4);
  ASSERT_THAT(sentences, SizeIs(4));
  for (const std::string& sentence : sentences) ExpectWords(sentence);
}

TEST(ScalesInWords, OneScaleIsSaidWithItsRange) {
  LayerRangesView ranges;
  ranges.layers.push_back(
      {.name = "a", .lowest = 2, .highest = 64, .group = 0});
  ranges.layers.push_back(
      {.name = "b", .lowest = 8, .highest = 99, .group = 0});
  ranges.groups = {{.scale = 16, .lowest = 8, .highest = 64}};
  const auto sentences = ScalesInWords(ranges, 4);
  ASSERT_THAT(sentences, SizeIs(1));
  ExpectWords(sentences[0]);
  EXPECT_THAT(ScalesInWords({}, 4), IsEmpty());
}

TEST(ScalesInWords, NamesAsManyAsItMay) {
  LayerRangesView ranges;
  for (int i = 0; i < 9; ++i) {
    ranges.layers.push_back({.name = "layer" + std::to_string(i),
                             .lowest = i % 2 == 0 ? 1 : 1024,
                             .highest = i % 2 == 0 ? 2 : 4096,
                             .group = static_cast<uint32_t>(i % 2)});
  }
  ranges.groups = {{.scale = 1, .lowest = 1, .highest = 2},
                   {.scale = 2048, .lowest = 1024, .highest = 4096}};
  ExpectWords(ScalesInWords(ranges, 2)[0]);
}

TestCase WithRule(int rule, Severity severity) {
  TestCase t;
  t.run.scaler.kind = ScalingKind::kLayerwise;
  t.evidence.updates = t.evidence.applied = 200;
  t.evidence.last_step = 199;
  t.evidence.loss_finite = 200;
  t.evidence.first_good_step = 0;
  t.evidence.layer_ranges =
      std::make_shared<const LayerRangesView>(TwoGroups());
  t.Find(rule, Family::kScale, severity, "embed");
  return t;
}

TEST(LayerScales, AScaleThatDoesNotSuitIsACauseWithAdvice) {
  const Diagnosis diagnosis = WithRule(66, Severity::kWarning).Verdict();
  ASSERT_THAT(diagnosis.causes, SizeIs(1));
  const CauseVerdict& cause = diagnosis.causes[0];
  EXPECT_EQ(cause.cause, Cause::kLayerScales);
  EXPECT_EQ(cause.origin.op, "embed");
  EXPECT_GE(cause.actions.size(), 4u);
}

TEST(LayerScales, WhatIsOutsideSaysMoreThanWhatIsLost) {
  TestCase t = WithRule(65, Severity::kWarning);
  t.Find(66, Family::kScale, Severity::kWarning, "blocks.1");
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_THAT(diagnosis.causes, SizeIs(1));
  EXPECT_EQ(diagnosis.causes[0].origin.op, "blocks.1");
}

TEST(LayerScales, AWeightThatIsNotUnscaledIsAMisuse) {
  const Diagnosis diagnosis = WithRule(68, Severity::kWarning).Verdict();
  ASSERT_THAT(diagnosis.causes, SizeIs(1));
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kScalerMisuse);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kEstablished);
}

TEST(LayerScales, ARunWithoutRangesHasNoAdviceFromThem) {
  TestCase t = WithRule(65, Severity::kWarning);
  t.evidence.layer_ranges = nullptr;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_THAT(diagnosis.causes, SizeIs(1));
  EXPECT_EQ(diagnosis.causes[0].actions.size(), 1u);
}

}  // namespace
}  // namespace nanwatch
