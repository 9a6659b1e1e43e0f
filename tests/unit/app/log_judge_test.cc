#include "app/log_judge.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "tests/golden/cause_words.h"
#include "tests/golden/words.h"

namespace nanwatch {
namespace {

// Of a sum of losses, one of which made it NaN.
TEST(LogJudgeTest, TheTermThatWasNotFiniteIsEvidence) {
  LogJudge judge({.run_id = "r"});
  for (int step = 1; step <= 60; ++step) {
    const bool bad = step > 40;
    judge.ReadLine("Epoch [1][" + std::to_string(step) +
                   "/900]\tlr: 2.000e-02, time: 0.4, loss_cls: 0.1000, "
                   "loss_bbox: " +
                   (bad ? "nan" : "0.2000") +
                   ", loss: " + (bad ? "nan" : "0.3000"));
  }
  const LogVerdict verdict = judge.Finish();
  ASSERT_EQ(verdict.attempts.size(), 1u);
  for (const CauseVerdict& cause : verdict.attempts[0]->diagnosis.causes) {
    ExpectWords(EvidenceWords(cause));
  }
}

// Hugging Face's Trainer prints 0 for NaN: that it is NaN is no more than
// likely, and no loss rose from 0.
TEST(LogJudgeTest, AZeroThatIsTakenForNanIsAHypothesis) {
  LogJudge judge({.run_id = "r"});
  for (int step = 1; step <= 200; ++step) {
    judge.ReadLine(
        "{'loss': " + (step <= 100 ? std::to_string(3 - 0.01 * step) : "0.0") +
        ", 'learning_rate': 2e-05, 'epoch': " + std::to_string(0.01 * step) +
        "}");
  }
  const LogVerdict verdict = judge.Finish();
  EXPECT_EQ(verdict.worst, Severity::kCritical);
  const CauseVerdict& cause = verdict.attempts[0]->diagnosis.causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kNanFromForward);
  EXPECT_EQ(cause.grade, EvidenceGrade::kHypothesis);
}

// `bad` of ten evaluations, a line after each tenth step: `x` is none, `h` blew
// up. `step_word`: what the
// lines call their step; none: they show none.
Severity WithEvaluations(std::string_view bad,
                         const std::string& step_word = "step: ") {
  LogJudge judge({.run_id = "r"});
  for (int step = 1; step <= 100; ++step) {
    const std::string place =
        step_word.empty() ? "" : step_word + std::to_string(step) + ", ";
    judge.ReadLine(place + "loss: " + std::to_string(3 - 0.01 * step) +
                   ", lr: 0.001");
    if (step % 10 != 0) continue;
    const char is = bad.at(static_cast<size_t>(step / 10 - 1));
    judge.ReadLine(is == 'x'   ? "validation loss nan"
                   : is == 'h' ? "validation loss 900"
                               : "validation loss 2.5");
  }
  return judge.Finish().at_end;
}

TEST(LogJudgeTest, AnEvaluationThatIsNotFiniteAtTheEndIsAWarning) {
  EXPECT_EQ(WithEvaluations(".........."), Severity::kNone);
  EXPECT_EQ(WithEvaluations(".....xxxxx"), Severity::kWarning);
  EXPECT_EQ(WithEvaluations(".........x"), Severity::kWarning) << "the last";
  EXPECT_LT(WithEvaluations(".xx......."), Severity::kWarning) << "it is over";
  EXPECT_EQ(WithEvaluations(".....xxxxx", ""), Severity::kWarning)
      << "without steps";
  EXPECT_EQ(WithEvaluations("xxxxxxxxxx", ""), Severity::kWarning) << "never";
}

// A program that goes on without every `nth` batch, and says so; `zero`: it
// puts 0 in place of the loss.
LogVerdict WithLostLosses(int nth, bool zero) {
  LogJudge judge({.run_id = "r"});
  judge.ReadLine("skipping batches whose loss is nan");
  for (int step = 1; step <= 300; ++step) {
    const bool lost = step > 150 && step % nth == 0;
    if (lost) judge.ReadLine("WARNING: the loss is nan, skipping it");
    if (lost && !zero) continue;
    judge.ReadLine("step: " + std::to_string(step) + ", loss: " +
                   std::to_string(lost ? 0 : 3 - 0.01 * step) + ", lr: 0.001");
  }
  return judge.Finish();
}

TEST(LogJudgeTest, LossesThatAProgramLeavesOutAreNews) {
  EXPECT_EQ(WithLostLosses(3, true).worst, Severity::kCritical);
  EXPECT_EQ(WithLostLosses(3, false).worst, Severity::kCritical);
  EXPECT_EQ(WithLostLosses(200, true).worst, Severity::kWarning) << "one";
  EXPECT_LT(WithLostLosses(400, true).worst, Severity::kWarning) << "none";
}

TEST(LogJudgeTest, EvaluationsThatBlewUpAndStayAreAWarning) {
  EXPECT_EQ(WithEvaluations(".....hhhhh"), Severity::kWarning);
  EXPECT_EQ(WithEvaluations("........hh"), Severity::kWarning) << "the last";
  EXPECT_EQ(WithEvaluations(".........h"), Severity::kNone) << "one";
  EXPECT_LT(WithEvaluations(".h..h....."), Severity::kWarning) << "it is over";
  EXPECT_EQ(WithEvaluations(".....hhhhh", ""), Severity::kWarning);
}

// `back` of 150 updates: from then on the return is what it began with.
LogVerdict OfReturns(int back) {
  LogJudge judge({.run_id = "r"});
  for (int i = 1; i <= 150; ++i) {
    const double noise = 0.2 * std::sin(2.3 * i);
    const double mean = i < back ? 22 + 450 * (1 - std::exp(-i / 30.0)) : 20;
    judge.ReadLine("update: " + std::to_string(i) +
                   ", loss: " + std::to_string(0.3 + noise) +
                   ", mean_reward: " + std::to_string(mean * (1 + noise)));
  }
  return judge.Finish();
}

TEST(LogJudgeTest, AReturnThatIsLostIsAWarning) {
  EXPECT_LT(OfReturns(151).worst, Severity::kWarning);
  EXPECT_LT(OfReturns(149).worst, Severity::kWarning) << "two of them";
  const LogVerdict verdict = OfReturns(97);
  EXPECT_EQ(verdict.at_end, Severity::kWarning);
  const RunView& view = *verdict.attempts.at(0);
  ASSERT_FALSE(view.incidents.empty());
  EXPECT_EQ(view.incidents[0].opened_step, 97);
}

LogVerdict EndedWith(std::string_view words, int more = 0) {
  LogJudge log({.run_id = "r"});
  for (int step = 1; step <= 100 + more; ++step) {
    log.ReadLine("step: " + std::to_string(step) + ", loss: 2.5");
    if (step != 100) continue;
    for (int rank = 0; rank < 8; ++rank) log.ReadLine(words);
  }
  return log.Finish();
}

// No line of it shows the NaN.
TEST(LogJudgeTest, AProgramsLastWordsAreOfTheStepAfterItsLastLine) {
  const LogVerdict loss = EndedWith("Loss is nan, stopping training");
  EXPECT_EQ(loss.worst, Severity::kCritical);
  EXPECT_EQ(loss.at_end, Severity::kCritical);
  EXPECT_EQ(loss.records, 101u);
  EXPECT_EQ(loss.emitter, "key_value");
  const RunView& view = *loss.attempts.at(0);
  ASSERT_FALSE(view.incidents.empty());
  EXPECT_EQ(view.incidents[0].family, Family::kLoss);
  EXPECT_EQ(view.incidents[0].opened_step, 101);
  ASSERT_FALSE(view.diagnosis.causes.empty());
  EXPECT_EQ(view.diagnosis.causes[0].cause, Cause::kNanFromForward);
  EXPECT_FALSE(view.diagnosis.causes[0].actions.empty());
}

TEST(LogJudgeTest, LastWordsOnGradientsAreOfTheirFamily) {
  const LogVerdict verdict =
      EndedWith("FloatingPointError: gradients are Nan/Inf");
  EXPECT_EQ(verdict.at_end, Severity::kCritical);
  const RunView& view = *verdict.attempts.at(0);
  ASSERT_FALSE(view.incidents.empty());
  EXPECT_EQ(view.incidents[0].family, Family::kGradient);
  EXPECT_EQ(view.diagnosis.causes.at(0).cause, Cause::kNanFromBackward);
  EXPECT_FALSE(view.diagnosis.causes.at(0).actions.empty());
}

TEST(LogJudgeTest, AProgramThatWentOnAfterItsLastWordsIsWellAtTheEnd) {
  const LogVerdict verdict = EndedWith("Loss is nan, stopping training", 100);
  EXPECT_EQ(verdict.worst, Severity::kCritical);
  EXPECT_EQ(verdict.at_end, Severity::kNone);
}

// While a run goes on it may come back; this one is over.
TEST(LogJudgeTest, ALossThatIsHighToTheEndIsCritical) {
  const auto judge = [](int high, int after) {
    Severity told = Severity::kNone;
    LogJudge log({.run_id = "r", .on_notice = [&](const Notice& notice) {
                    told = std::max(told, notice.incident.severity);
                  }});
    for (int step = 1; step <= 200 + high + after; ++step) {
      const bool bad = step > 200 && step <= 200 + high;
      const double loss = (bad ? 6 : 2) + 4 * std::exp(-step / 25.0);
      log.ReadLine("step " + std::to_string(step) +
                   ": loss=" + std::to_string(loss + 0.01 * (step % 7)));
    }
    const LogVerdict verdict = log.Finish();
    EXPECT_EQ(verdict.worst, told);
    return verdict;
  };
  const LogVerdict lost = judge(40, 0);
  EXPECT_EQ(lost.worst, Severity::kCritical);
  EXPECT_EQ(lost.at_end, Severity::kCritical);
  EXPECT_EQ(lost.attempts.at(0)->incidents.at(0).opened_step, 201);
  EXPECT_EQ(judge(40, 30).worst, Severity::kWarning);
}

// Of 500 records, each of 20 steps, whose loss falls; `loss` and `norm` are
// times the usual, after as many records of the spike.
RecordVerdict Spiked(double (*loss)(int), double (*norm)(int)) {
  LogJudge log({.run_id = "r"});
  for (int i = 1; i <= 500; ++i) {
    const double noise = 1 + 0.02 * std::sin(2.4 * i);
    log.ReadLine("step: " + std::to_string(20 * i) + ", loss: " +
                 std::to_string((2.5 + 1.5 * std::exp(-i / 60.0)) *
                                loss(i - 300) * noise) +
                 ", grad_norm: " +
                 std::to_string(0.3 * norm(i - 300) * std::pow(noise, 9)));
  }
  return log.Finish();
}

void ExpectAWarningOfTheLoss(const RecordVerdict& verdict) {
  EXPECT_EQ(verdict.worst, Severity::kWarning);
  EXPECT_EQ(verdict.at_end, Severity::kNone);
  const auto& incidents = verdict.attempts.at(0)->incidents;
  const bool of_loss =
      std::any_of(incidents.begin(), incidents.end(), [](const Incident& each) {
        return each.family == Family::kLoss &&
               each.worst == Severity::kWarning && each.opened_step == 6000;
      });
  EXPECT_TRUE(of_loss);
}

TEST(LogJudgeTest, ASpikeThatComesDownIsAWarningWhateverItsNormDoes) {
  ExpectAWarningOfTheLoss(Spiked(
      [](int i) { return i < 0 || i >= 40 ? 1 : 1 + 2 * (1 - i / 40.0); },
      [](int i) { return i < 0 || i >= 40 ? 1.0 : 8; }));
}

TEST(LogJudgeTest, AShortSpikeWithItsNormIsOneOfTheLoss) {
  ExpectAWarningOfTheLoss(
      Spiked([](int i) { return i == 0   ? 1.9
                                : i == 1 ? 1.15
                                         : 1; },
             [](int i) { return i < 0 ? 1 : 1 + 16 * std::exp(-i / 1.5); }));
}

// The first time is the one that somebody looks for.
TEST(LogJudgeTest, WhatCameBackIsAsOldAsTheFirstTime) {
  LogJudge judge({.run_id = "r"});
  for (int step = 1; step <= 4000; ++step) {
    const bool bad = step == 200 || step == 500;
    judge.ReadLine("step: " + std::to_string(step) +
                   ", loss: " + (bad ? "nan" : "2.5"));
  }
  const LogVerdict verdict = judge.Finish();
  const auto& incidents = verdict.attempts.at(0)->incidents;
  const auto back =
      std::find_if(incidents.begin(), incidents.end(),
                   [](const Incident& each) { return each.reopened == 1; });
  ASSERT_NE(back, incidents.end());
  EXPECT_EQ(back->opened_step, 200);
  EXPECT_GT(back->resolved_step.value_or(0), 500);
}

// Three losses, each with a scaler of its own: steps are one optimizer's.
TEST(LogJudgeTest, StepsAreThoseOfOneOptimizer) {
  LogJudge judge({.run_id = "r"});
  for (int step = 1; step <= 40; ++step) {
    const std::string scaler = std::to_string(step % 3);
    if (step < 7) {
      judge.ReadLine("Gradient overflow.  Skipping step, loss scaler " +
                     scaler + " reducing loss scale to 32768.0");
    }
    judge.ReadLine("[0/25][" + std::to_string(step) +
                   "/782] Loss_D: 0.5000 Loss_G: " + std::to_string(step));
  }
  const LogVerdict verdict = judge.Finish();
  EXPECT_EQ(verdict.worst, Severity::kNone);
  EXPECT_EQ(verdict.steps, 40);
  EXPECT_GT(verdict.records, 100u);
}

}  // namespace
}  // namespace nanwatch
