#include "logs/loss_terms.h"

#include <gtest/gtest.h>

#include <string>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

TEST(LossTerms, TheOneThatIsNotFiniteIsNamed) {
  EXPECT_EQ(TermNotFinite("lr: 0.02, loss_cls: 0.2, loss_bbox: nan, loss: nan"),
            "loss_bbox");
  EXPECT_EQ(TermNotFinite("{'loss_a': 0.5, 'loss_b': inf, 'loss': inf}"),
            "loss_b");
  EXPECT_EQ(TermNotFinite("loss_a: nan, loss_b: nan, loss_c: 0.5"), "");
  EXPECT_EQ(TermNotFinite("total_loss=nan d0.loss_mask=nan loss_cls=0.1"),
            "d0.loss_mask");
}

TEST(LossTerms, NothingIsSaidWhereNoneOrSeveralAreNotFinite) {
  EXPECT_EQ(TermNotFinite("loss_cls: 0.2, loss_bbox: 0.1, loss: 0.3"), "");
  EXPECT_EQ(TermNotFinite("loss_cls: nan, loss_bbox: nan, loss: nan"), "");
  EXPECT_EQ(TermNotFinite("a_loss: nan, b_loss: 0.5, c_loss: nan, loss: nan"),
            "");
  EXPECT_EQ(TermNotFinite("ctc_loss: nan, loss: nan, loss_scale: 65536"), "");
  EXPECT_EQ(TermNotFinite("step: 3, train_loss: nan, lr: 0.1"), "");
  EXPECT_EQ(TermNotFinite("avg loss: nan, val_loss: 0.5, total_loss: nan"), "");
  EXPECT_EQ(TermNotFinite("loss"), "");
  EXPECT_EQ(TermNotFinite(": nan = nan"), "");
}

// Also on the lines that wait until it is clear which program prints; and of a
// NaN that comes later it is that one's.
TEST(LossTerms, TheRunIsSaidToHaveIt) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  const auto line = [&reader](int step, const char* cls, const char* box) {
    const bool bad = cls[0] == 'n' || box[0] == 'n';
    reader.ReadLine("Epoch [1][" + std::to_string(step) +
                    "/900]\tlr: 2.000e-02, time: 0.4, loss_cls: " + cls +
                    ", loss_bbox: " + box +
                    ", loss: " + (bad ? "nan" : "0.3000"));
  };
  line(1, "0.1000", "0.2000");
  line(2, "0.1000", "nan");
  line(3, "nan", "nan");
  for (int step = 4; step < 30; ++step) line(step, "0.1000", "0.2000");
  EXPECT_EQ(reader.run().settings.at("nonfinite_loss"), "loss_bbox");
  line(30, "nan", "0.2000");
  EXPECT_EQ(reader.run().settings.at("nonfinite_loss"), "loss_cls");
}

TEST(LossTerms, OneBesideAFiniteLoss) {
  EXPECT_EQ(PartBesideLoss("step 3 loss 2.31 (kl nan, rec 2.31)").name, "kl");
  EXPECT_EQ(PartBesideLoss("loss: 2.31 [ce: 2.31, aux: -inf]").name, "aux");
  EXPECT_EQ(PartBesideLoss("loss: 1.05  decode.loss_ce: 1.05  "
                           "aux.loss_depth: nan")
                .name,
            "aux.loss_depth");
  EXPECT_EQ(PartBesideLoss("[1.2it/s, loss=nan, train_loss=2.31]").name, "");
  EXPECT_EQ(PartBesideLoss("{'loss': 2.3, 'kl_loss': nan, 'lr': 0.1}").name,
            "kl_loss");
  EXPECT_EQ(PartBesideLoss("G_L1: 21.5 D_real: 0.5 D_fake: nan").name,
            "D_fake");
  EXPECT_EQ(PartBesideLoss("loss=2.3 alpha=inf kl_loss=nan").name, "kl_loss")
      << "what is named as a loss goes first";
}

TEST(LossTerms, HowLargeWeightsAreIsAMetric) {
  const OddPart weights = PartBesideLoss("loss=2.5, weight_rms=nan, aux=0.5");
  EXPECT_EQ(weights.name, "weight_rms");
  EXPECT_TRUE(weights.metric);
  EXPECT_FALSE(PartBesideLoss("loss=2.5, mean_error=nan").metric);
}

TEST(LossTerms, WhatIsNoTermIsNotOneBesideALoss) {
  for (const char* line :
       {"loss=2.3, param_rms=inf", "loss 2.3 val_loss nan", "loss 2.3 best nan",
        "loss 2.3 grad_norm inf", "loss: 2.3, best_loss: inf",
        "loss 2.3 (best inf)", "loss 2.3 nan", "loss 2.3 reward inf (ppl inf)",
        "loss 2.3 in banana loss_a 0.2", "loss 2.3 loss_scale inf",
        "loss=2.3 grad_norm={'1_experts': nan}",
        "loss 2.3 lr 0.1 norms: (enc nan, dec 0.1)",
        "loss: 2.3 reward_std: nan explained_variance: nan, tok/s: inf", ""}) {
    EXPECT_EQ(PartBesideLoss(line).name, "") << line;
  }
}

TEST(LossTerms, OneOfAListBesideAFiniteLoss) {
  EXPECT_EQ(PartBesideLoss("loss 1.2 losses: [1.2, nan, 0.3]").name, "losses");
  EXPECT_EQ(PartBesideLoss("loss 1.2 losses=[nan, 0.3]").name, "losses");
  EXPECT_EQ(PartBesideLoss("loss 1.2 times: [1.2, nan, 0.3]").name, "");
}

TEST(LossTerms, AMetricIsNone) {
  for (const char* line :
       {"step 3 loss 2.31 ppl nan", "loss: 2.3, acc: nan, lr: 0.1",
        "episode 7 reward nan loss 0.3", "loss 2.3 (mIoU nan)"}) {
    const OddPart odd = PartBesideLoss(line);
    EXPECT_TRUE(odd.metric) << line;
    EXPECT_NE(odd.name, "") << line;
  }
  EXPECT_FALSE(PartBesideLoss("acc nan loss 2.3 kl_loss nan").metric);
}

// What a log tells of a metric that is `bad` in its lines.
template <typename Bad>
std::string ToldOfMetric(int lines, Bad bad) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 0; step < lines; ++step) {
    reader.ReadLine("step " + std::to_string(step) +
                    " loss: 2.31 reward: " + (bad(step) ? "nan" : "0.2"));
  }
  reader.Finish();
  const auto told = reader.run().settings.find("metric_not_finite");
  return told == reader.run().settings.end() ? "-" : told->second;
}

TEST(LossTerms, AMetricIsToldThatTurnsIntoNan) {
  EXPECT_EQ(ToldOfMetric(60, [](int i) { return i >= 40; }), "40 reward");
  EXPECT_EQ(ToldOfMetric(60, [](int i) { return i >= 40 && i < 50; }), "");
  EXPECT_EQ(ToldOfMetric(60, [](int) { return true; }), "-");
  EXPECT_EQ(ToldOfMetric(60, [](int i) { return i > 8; }), "-")
      << "an evaluation's column";
  EXPECT_EQ(ToldOfMetric(60, [](int i) { return i >= 55; }), "-");
}

// What a log tells of a term that is `bad` in its lines.
template <typename Bad>
std::string ToldOfTerm(int lines, Bad bad) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 0; step < lines; ++step) {
    reader.ReadLine("step " + std::to_string(step) +
                    " loss: 2.31 kl_loss: " + (bad(step) ? "nan" : "0.2"));
  }
  reader.Finish();
  const auto told = reader.run().settings.find("term_not_finite");
  return told == reader.run().settings.end() ? "-" : told->second;
}

TEST(LossTerms, ATermIsToldThatStaysNan) {
  EXPECT_EQ(ToldOfTerm(60, [](int i) { return i >= 40; }), "40 kl_loss");
  EXPECT_EQ(ToldOfTerm(60, [](int) { return true; }), "0 kl_loss");
  EXPECT_EQ(ToldOfTerm(60, [](int i) { return i >= 40 && i < 50; }), "");
  EXPECT_EQ(ToldOfTerm(60, [](int i) { return i % 3 == 0; }), "-");
  EXPECT_EQ(ToldOfTerm(60, [](int i) { return i < 5; }), "-");
}

// The same where words say that a term was left out; `loss`: of what remains.
std::string ToldOfLostTerm(int first, int nth, const char* loss, int* bad) {
  LogReader reader(nullptr, {}, [bad](const LogRecord& record) {
    *bad += std::isfinite(record.step[StepField::kLoss]) ? 0 : 1;
  });
  for (int step = 0; step < 60; ++step) {
    const bool lost = step >= first && step % nth == 0;
    if (lost) reader.ReadLine("WARNING:root:fape loss is NaN. Skipping...");
    reader.ReadLine("step " + std::to_string(step) +
                    " loss: " + (lost ? loss : "2.31"));
  }
  reader.Finish();
  const auto told = reader.run().settings.find("term_not_finite");
  return told == reader.run().settings.end() ? "-" : told->second;
}

TEST(LossTerms, OneThatIsLeftOutIsNoLossThatIs) {
  int bad = 0;
  EXPECT_EQ(ToldOfLostTerm(40, 10, "1.5", &bad), "-");
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(ToldOfLostTerm(40, 1, "1.5", &bad), "40 fape");
  EXPECT_EQ(bad, 0);
  ToldOfLostTerm(40, 1, "0.0", &bad);
  EXPECT_EQ(bad, 20) << "nothing is left";
}

}  // namespace
}  // namespace nanwatch
