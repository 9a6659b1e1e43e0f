// Returns that programs print, each in its way, as LogReader tells them.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

// What an update prints, whose return is `score`.
using Lines = std::string (*)(int update, const std::string& score);

std::string Sb3(int update, const std::string& score) {
  return "-----------------------------\n"
         "| rollout/           |      |\n"
         "|    ep_rew_mean     | " +
         score +
         " |\n"
         "| time/              |      |\n"
         "|    total_timesteps | " +
         std::to_string(update * 512) +
         " |\n"
         "| train/             |      |\n"
         "|    learning_rate   | 0.01 |\n"
         "|    loss            | 0.25 |\n"
         "-----------------------------\n";
}

std::string RslRl(int update, const std::string& score) {
  return "       Learning iteration " + std::to_string(update) +
         "/400\n"
         "       Value function loss: 0.0251\n"
         "       Surrogate loss: -0.0041\n"
         "       Mean reward: " +
         score +
         "\n"
         "       Iteration time: 0.81s\n";
}

std::string DeepSpeedChat(int update, const std::string& score) {
  return "epoch: 0|step: " + std::to_string(update) +
         "|ppo_ep: 1|act_loss: 0.05|cri_loss: 0.25|unsuper_loss: 0.0\n"
         "average reward score: " +
         score + "\n";
}

std::string Words(int update, const std::string& score) {
  return "update " + std::to_string(update) +
         ", loss 0.25, mean_reward: " + score + "\n";
}

std::string Alone(int update, const std::string& score) {
  return "global_step=" + std::to_string(update) +
         ", episodic_return=" + score + "\n";
}

std::string ScoreOf(Lines lines) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int i = 1; i <= 60; ++i) {
    const std::string text = lines(i, i <= 10   ? "1.5"
                                      : i <= 40 ? "9.5"
                                                : "0.5");
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      reader.ReadLine(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
  }
  reader.Finish();
  const auto& settings = reader.run().settings;
  const auto told = settings.find("score");
  return told == settings.end() ? "" : told->second;
}

// Since, records, all.
TEST(ScoreLinesTest, ReturnsAreReadAsEachProgramPrintsThem) {
  EXPECT_TRUE(ScoreOf(Sb3).starts_with("20992 20 60 ")) << ScoreOf(Sb3);
  EXPECT_TRUE(ScoreOf(RslRl).starts_with("41 20 60 ")) << ScoreOf(RslRl);
  EXPECT_TRUE(ScoreOf(DeepSpeedChat).starts_with("43 19 59 "))
      << ScoreOf(DeepSpeedChat);
  EXPECT_TRUE(ScoreOf(Words).starts_with("41 20 60 ")) << ScoreOf(Words);
  EXPECT_TRUE(ScoreOf(Alone).starts_with("41 20 60 ")) << ScoreOf(Alone);
}

// A score that grows, and accuracies in the mean.
TEST(ScoreLinesTest, TheBestAndTheMeanAreTold) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 1; step <= 64; ++step) {
    reader.ReadLine("step=" + std::to_string(step) +
                    " loss=2.5 acc=" + (step < 32 ? "0.1" : "0.7"));
  }
  reader.Finish();
  const auto& settings = reader.run().settings;
  EXPECT_EQ(settings.at("score_best").substr(0, 7), "64 0.1 ");
  EXPECT_NEAR(std::stod(settings.at("accuracy")), 0.41, 0.01);
}

// What a log tells of scores that are the worst in all lines.
std::string WorstOf(const std::string& columns, int lines) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int epoch = 0; epoch < lines; ++epoch) {
    reader.ReadLine("step=" + std::to_string(100 * epoch) + " loss=2.5 " +
                    columns);
  }
  reader.Finish();
  const auto told = reader.run().settings.find("scores_worst");
  return told == reader.run().settings.end() ? "" : told->second;
}

TEST(ScoreLinesTest, ScoresThatAreTheWorstThroughoutAreTold) {
  EXPECT_EQ(WorstOf("f1=0.0", 20), "20");
  EXPECT_EQ(WorstOf("wer=1.0", 20), "20");
  EXPECT_EQ(WorstOf("TER: 104.5", 20), "20") << "percent";
  EXPECT_EQ(WorstOf("f1=0.0 acc=0.0", 20), "20");
  EXPECT_EQ(WorstOf("r2=-0.004", 20), "20");
  EXPECT_EQ(WorstOf("f1=0.0", 7), "") << "few";
  for (const char* better : {"f1=0.4", "wer=0.8", "acc=0.0", "acc=0.06",
                             "f1=0 acc=0.4", "f1=0 auc=0.5", "r2=0.3"}) {
    EXPECT_EQ(WorstOf(better, 160), "") << better;
  }
}

// What a log with these losses of evaluations tells of them.
RunDescription RunWith(const std::vector<std::string>& evaluations) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (size_t epoch = 0; epoch < evaluations.size(); ++epoch) {
    const std::string at = "epoch=" + std::to_string(epoch);
    reader.ReadLine(at + " loss=2.25");
    reader.ReadLine(at + " " + evaluations[epoch]);
  }
  reader.Finish();
  return reader.run();
}

TEST(ScoreLinesTest, EvaluationsThatAreAllTheSameAreTold) {
  const auto same = [](std::vector<std::string> evaluations) {
    const RunDescription run = RunWith(evaluations);
    const auto told = run.settings.find("evaluations_same");
    return told == run.settings.end() ? "" : told->second;
  };
  const std::vector<std::string> five(5, "val_loss=2.3054");
  EXPECT_EQ(same(five), "5");
  EXPECT_EQ(same({5, "val_loss=2.30"}), "") << "rounded";
  EXPECT_EQ(same({4, "val_loss=2.3054"}), "") << "few";
  EXPECT_EQ(same({5, "loss=2.25 val_loss=2.3054"}), "") << "shown again";
  std::vector<std::string> moves = five;
  moves.emplace_back("val_loss=2.3053");
  EXPECT_EQ(same(moves), "");
}

TEST(ScoreLinesTest, AccuraciesOfEvaluationsAreTheirMean) {
  const auto mean = [](std::vector<std::string> evaluations) {
    const RunDescription run = RunWith(evaluations);
    const auto told = run.settings.find("evaluation_accuracy");
    return told == run.settings.end() ? "" : told->second.substr(0, 4);
  };
  EXPECT_EQ(mean({5, "val_acc=0.25"}), "0.25");
  EXPECT_EQ(mean({4, "val_acc=0.25"}), "") << "few";
  std::vector<std::string> loaded(5, "val_acc=0.25");
  loaded.front() = "val_acc=0.97";
  EXPECT_EQ(mean(loaded), "0.25") << "what was loaded was better";
}

TEST(ScoreLinesTest, AccuraciesOfATableAreOfEvaluations) {
  const auto highest = [](const std::string& header) {
    LogReader reader(nullptr, {}, [](const LogRecord&) {});
    reader.ReadLine("epoch" + header);
    for (int epoch = 1; epoch <= 8; ++epoch) {
      reader.ReadLine(std::to_string(epoch) + ",2.3,12.5,2.31");
    }
    reader.Finish();
    const auto& settings = reader.run().settings;
    const auto told = settings.find("evaluation_accuracy");
    return told == settings.end() ? "" : told->second.substr(0, 5);
  };
  EXPECT_EQ(highest(",train_loss,val_acc,val_loss"), "0.125");
  EXPECT_EQ(highest(",train_loss,train_acc,val_loss"), "");
}

TEST(ScoreLinesTest, AnErrorRateInPercentThatFallsIsNoneOfThese) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int epoch = 0; epoch < 60; ++epoch) {
    reader.ReadLine("epoch: " + std::to_string(epoch) +
                    ", loss: 0.25, wer: " + std::to_string(3.9 - 0.03 * epoch));
  }
  reader.Finish();
  EXPECT_EQ(reader.run().settings.count("scores_worst"), 0u);
}

// What is told of latents after 16 lines of this shape, whose last number, the
// KL term, is halved in each.
std::string LatentsOf(const std::string& before, double kl = 0.0173) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int epoch = 1; epoch <= 16; ++epoch, kl /= 2) {
    reader.ReadLine("epoch=" + std::to_string(epoch) + " " + before +
                    std::to_string(kl));
  }
  reader.Finish();
  const auto& settings = reader.run().settings;
  const auto told = settings.find("latents_unused");
  return told == settings.end() ? "" : told->second;
}

TEST(ScoreLinesTest, TheKlTermBesideAReconstructionIsOfLatents) {
  EXPECT_TRUE(
      LatentsOf("elbo=-27.28 rec=27.27 kl=").starts_with("2 15 16 0 0.00865 "));
  for (const char* before : {"loss: 27.28 recon: 27.27 kld: ",
                             "loss=27.28, reconstruction=27.27, kl="}) {
    EXPECT_TRUE(LatentsOf(before).starts_with("2 15 16 ")) << before;
  }
  EXPECT_TRUE(LatentsOf("| elbo -27.281 | reconstruction 27.273 | KL ")
                  .starts_with("2 15 16 "))
      << "without signs";
  EXPECT_EQ(LatentsOf("elbo=-27.28 rec=27.27 kl=", 1e5), "") << "it is large";
  EXPECT_EQ(LatentsOf("loss: 27.28 kl: "), "") << "of a teacher, it may be";
  EXPECT_EQ(LatentsOf("reward=2.5 loss=0.3 kl="), "") << "of a policy";
  EXPECT_EQ(LatentsOf("| return 25.31 | entropy 0.52 | KL "), "")
      << "of a policy";
  EXPECT_EQ(LatentsOf("elbo=-27.28 approx_kl="), "");
}

// Of 24 windows, `missed` of which had no episode that ended.
size_t LossesNotFinite(int from, int missed, bool steps) {
  size_t bad = 0;
  LogReader reader(nullptr, {}, [&bad](const LogRecord& record) {
    bad += std::isfinite(record.step[StepField::kLoss]) ? 0 : 1;
  });
  for (int window = 0; window < 24; ++window) {
    const bool none = window >= from && window < from + missed;
    const std::string step = "Step: " + std::to_string(5 * window) + ". ";
    reader.ReadLine((steps ? step : "") + "Mean Reward: " +
                    (none ? "nan" : "-" + std::to_string(90.5 - window)));
    reader.ReadLine("Saved Model");
  }
  reader.Finish();
  return bad;
}

TEST(ScoreLinesTest, AReturnThatWasNotMeasuredIsNoLoss) {
  for (const bool steps : {false, true}) {
    EXPECT_EQ(LossesNotFinite(12, 2, steps), 0u) << steps;
    EXPECT_GT(LossesNotFinite(12, 12, steps), 1u) << "nothing else shows life";
  }
}

}  // namespace
}  // namespace nanwatch
