#include "cli/cause_text.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

TEST(CauseText, ANameBecomesATitleAsTheFieldWritesIt) {
  EXPECT_EQ(Title("nan_from_forward"), "NaN from forward");
  EXPECT_EQ(Title("nan_from_backward"), "NaN from backward");
  EXPECT_EQ(Title("fp8_scaling"), "FP8 scaling");
  EXPECT_EQ(Title("scale_independent_op"), "Scale independent op");
  EXPECT_EQ(Title("na"), "Na");
  EXPECT_EQ(Title(""), "");
}

TEST(CauseText, AnOpHasItsTypeAndDtypeAsFarAsTheyAreKnown) {
  v1::Subject subject;
  subject.set_rank(3);
  EXPECT_EQ(Place(subject), "rank 3");
  subject.set_op("loss/Log");
  subject.set_slot("output");
  EXPECT_EQ(Place(subject), "op loss/Log (output), rank 3");
  subject.set_dtype("fp16");
  EXPECT_EQ(Place(subject), "op loss/Log (output, fp16), rank 3");
  subject.set_type("Log");
  subject.set_host("node7");
  EXPECT_EQ(Place(subject),
            "op loss/Log (Log, output, fp16), rank 3, host node7");
}

TEST(CauseText, ALossThatIsNanOfNoKnownOpNamesNoPlace) {
  v1::CauseVerdict cause;
  cause.set_cause("nan_from_forward");
  cause.set_grade(v1::EVIDENCE_GRADE_SUPPORTED);
  EXPECT_EQ(HeadingOf(cause).title, "NaN loss");
  EXPECT_EQ(HeadingOf(cause).grade, "");
  cause.mutable_origin()->set_op("head");
  EXPECT_EQ(HeadingOf(cause).title, "NaN from forward");
  cause.set_cause("collapse_with_underflow");
  EXPECT_EQ(HeadingOf(cause).title, "Loss scale collapsed");
}

TEST(CauseText, WhatNoCauseExplainsIsCalledAfterItsRules) {
  v1::CauseVerdict cause;
  cause.set_cause("divergence");
  cause.set_grade(v1::EVIDENCE_GRADE_SUPPORTED);
  cause.add_rules("loss_spike");
  EXPECT_EQ(HeadingOf(cause).title, "Divergence");
  EXPECT_EQ(HeadingOf(cause).grade, "(supported)");
  cause.set_cause("unexplained");
  EXPECT_EQ(HeadingOf(cause).title, "Loss spike");
  EXPECT_EQ(HeadingOf(cause).grade, "");
  cause.add_rules("score_lost");
  EXPECT_EQ(HeadingOf(cause).title, "Loss spike, score lost");
  cause.clear_rules();
  EXPECT_EQ(HeadingOf(cause).title, "Earlier trouble");
}

TEST(CauseText, ATypeThatSaysNothingNewIsLeftOut) {
  v1::Subject subject;
  subject.set_rank(-1);
  subject.set_op("Log");
  subject.set_type("Log");
  subject.set_slot("output");
  EXPECT_EQ(Place(subject), "op Log (output)");
  subject.set_op("fc.weight");
  subject.set_type("Parameter");
  subject.set_slot("parameter");
  EXPECT_EQ(Place(subject), "op fc.weight (parameter)");
  subject.set_slot("grad_input");
  EXPECT_EQ(Place(subject), "op fc.weight (Parameter, grad_input)");
}

}  // namespace
}  // namespace nanwatch
