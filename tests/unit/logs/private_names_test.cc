// Names that people give to the numbers of their own scripts.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "logs/column_meaning.h"
#include "logs/usual_names.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

TEST(PrivateNames, ALossMayBeNamedByItsSet) {
  EXPECT_EQ(Told("round=1 mse_train=7.5 mse_holdout=8.5\n"
                 "round=2 mse_train=12.25 mse_holdout=11.5\n"
                 "round=3 nll_trn=nan nll_val=2.5"),
            "step=1 loss=7.5\nstep=2 loss=12.25\nstep=3 loss=nan\n");
  EXPECT_EQ(Told("[1]\ttraining's binary_logloss: 0.5\t"
                 "valid_1's binary_logloss: 0.75\n"
                 "[2]\ttraining's multi_loss: 0.5\tvalid_1's multi_loss: 0.75"),
            "step=2 loss=0.5\n");
  EXPECT_EQ(UsualMeaning("train_err"), ColumnMeaning::kWeakMeasure);
  EXPECT_EQ(UsualMeaning("step_train"), ColumnMeaning::kStep);
  EXPECT_EQ(UsualMeaning("tl"), ColumnMeaning::kNothing);
  EXPECT_EQ(EvaluationMeaning("mse_holdout"), ColumnMeaning::kSquares);
  EXPECT_EQ(EvaluationMeaning("valid_0-rmse"), ColumnMeaning::kMeasure);
  EXPECT_EQ(EvaluationMeaning("val_acc"), ColumnMeaning::kNothing);
  EXPECT_EQ(EvaluationMeaning("interval"), ColumnMeaning::kNothing);
}

TEST(PrivateNames, AWeakNameIsALossOnlyWhereNothingElseIs) {
  EXPECT_EQ(Told("step=1 td=0\nstep=2 td=0.5\nstep=3 td=2\ntd=0.25"),
            "step=2 loss=0.5 guessed\nstep=3 loss=2 guessed\n");
  EXPECT_EQ(Told("step=1 td=0.5\nstep=2 td=0.5 loss=2.5\nstep=3 td=0.5"),
            "step=1 loss=0.5 guessed\nstep=2 loss=2.5\n");
  EXPECT_EQ(Told("step=1 err=0.5\nstep=2 l2=0.5\nstep=3 error=1.5"), "");
  EXPECT_EQ(Told("step=1 error=404\nstep=2 error=500\nlr=0.1 l2=0.001"), "");
}

TEST(PrivateNames, AnEvaluationsLossStandsWhereNoOtherIs) {
  EXPECT_EQ(Told("[10]\tvalid_0's l2: 2.5\n[20]\tvalid_0's l2: 2.25\n"
                 "[30]\tvalid_0's l2: nan\n[40]\tvalid_0's l2: nan\n"
                 "Early stopping, best iteration is:\n"
                 "[20]\tvalid_0's l2: 2.25"),
            "step=10 loss=2.5 guessed\nstep=20 loss=2.25 guessed\n"
            "step=30 loss=nan guessed\nstep=40 loss=nan guessed\n");
  EXPECT_EQ(Told("[1]\tvalid_0's auc: 0.5\tvalid_0's l2: 2.5\n"
                 "[2]\tvalid_0's auc: 0.5\tvalid_0's l2: 2.5\n"
                 "[3]\tvalid_0's auc: 0.5\tvalid_0's l2: 2.5\n"
                 "[4]\tvalid_0's auc: 0.5\tvalid_0's l2: 2.5\n"
                 "val: auc=0.5 val_loss=2.5 loss=2.5 step=5"),
            "step=1 loss=2.5 guessed\nstep=2 loss=2.5 guessed\n"
            "step=3 loss=2.5 guessed\nstep=4 loss=2.5 guessed\n");
  EXPECT_EQ(Told("step=1 val_loss=2.5\nstep=2 val_loss=2.5\n"
                 "step=2 loss=3.5\nstep=3 val_loss=2.5\nstep=4 val_loss=2.5"),
            "step=2 loss=3.5\n");
}

TEST(PrivateNames, AScaleThatIsToldInASentenceIsNoLoss) {
  constexpr std::string_view kLines =
      "step 1: nll=2.5 loss_scale=4096\n"
      "step 2: OVERFLOW! skipping update, loss scale now 2048 (1 so far)\n"
      "step 3: nan grads, update skipped, scale -> 1024\n"
      "step 4: will skip updates if inf, loss scale is 1024";
  EXPECT_EQ(Told(kLines),
            "step=1 loss=2.5 loss_scale=4096\n"
            "step=2 loss_scale=2048 overflowed\n"
            "step=3 loss_scale=1024 overflowed\n");
  EXPECT_EQ(ToldFacts("skip_words", kLines), "");
  EXPECT_EQ(ToldFacts("skip_words", "OVERFLOW! update skipped, scale is 8"),
            "overflow loss_scale=8 skipped\n");
  EXPECT_EQ(ToldFacts("alike_lines",
                      "3: loss scale now 1.5\n"
                      "4: loss scale now 1.5\n"
                      "5: loss scale now 1.5\n"
                      "6: loss scale now 1.5\n"
                      "7: loss scale now 1.5"),
            "");
}

TEST(PrivateNames, AGradientIsItsNormBesideALoss) {
  EXPECT_EQ(Told("step=1 loss=2.5 gn=0.5\nstep=2 loss=2.5 |g|=0.25\n"
                 "step=3 loss=2.5 |grad|: 0\nstep=4 gn=0.5\n"
                 "step=5 loss=2.5 gn=0.5 grad_norm=0.25\n"
                 "step 6 loss 2.5 ||g|| 0.75"),
            "step=1 loss=2.5 grad_norm=0.5\nstep=2 loss=2.5 grad_norm=0.25\n"
            "step=3 loss=2.5 grad_norm=0\nstep=5 loss=2.5 grad_norm=0.25\n");
  EXPECT_EQ(Told("step=1 loss=2.5 gn=32\nstep 2 loss 2.5 |g| 0.75"),
            "step=1 loss=2.5\n");
  EXPECT_EQ(Told("step 1 loss 2.5 |g| 0.75"),
            "step=1 loss=2.5 grad_norm=0.75\n");
  EXPECT_EQ(ToldFacts("alike_lines",
                      "0 bce 0.5 |g| 3.5e-01\n"
                      "1 bce 0.5 |g| 2.5e-01\n"
                      "2 bce 0.5 |g| 2.5e-01\n"
                      "3 bce 0.5 |g| 2.5e-01\n"
                      "4 bce 0.5 |g| 0.0e+00")
                .substr(0, 28),
            "step=0 loss=0.5 grad_norm=0.");
}

TEST(PrivateNames, BesideAdversariesNeitherStandsForALoss) {
  for (const std::string_view line : {"step=2 d_loss=0.5 g_loss=1.5 l1=20.5",
                                      "step=2 l1=20.5 d_loss=0.5 g_loss=1.5"}) {
    EXPECT_EQ(Told(line), Told("step=2 d_loss=0.5 g_loss=1.5"));
  }
  EXPECT_EQ(Told("step=2 d_loss=0.5\nstep=2 val_loss=2.5\n"
                 "step=3 val_loss=2.5\nstep=4 val_loss=2.5"),
            Told("step=2 d_loss=0.5"));
}

TEST(PrivateNames, ScoresOfEpisodesAreRewards) {
  EXPECT_EQ(Told("step=1 loss=2.5 score=0.5\n"
                 "episode: 2, score: 16, loss: 0.5\n"
                 "episode: 3, R=17, loss: 0.5"),
            "step=1 loss=2.5\nstep=2 loss=0.5 of_rewards\n"
            "step=3 loss=0.5 of_rewards\n");
  EXPECT_EQ(Told("env_step=10000, len=200, loss=4.5, rew=-1025.5"),
            "step=10000 loss=4.5 of_rewards\n");
  EXPECT_EQ(Told("it 5 ep_rew_mean -208.5 entropy -1.5 loss 13.5"),
            "step=5 loss=13.5 of_rewards\n");
}

TEST(PrivateNames, APolicysLossIsOfATrainingOnRewards) {
  EXPECT_EQ(Told("step 1 trainer/QF1 Loss 2.5\nstep 2 Policy Loss -2.5\n"
                 "step 3 Critic Loss 2.5"),
            "step=1 loss=2.5 of_rewards\nstep=2 loss=-2.5 of_rewards\n"
            "step=3 loss=2.5\n");
  for (const char* lines :
       {"step 1 vf_loss: 2.5", "step 1 train/actor_loss=2, critic_loss=0.5",
        "step 1 value_loss 2.5"}) {
    EXPECT_EQ(Told(lines), "step=1 loss=2.5 of_rewards\n") << lines;
  }
  for (const char* lines :
       {"step 1 missing_value_loss: 2.5", "step 1 critic_loss=2.5"}) {
    EXPECT_EQ(Told(lines), "step=1 loss=2.5\n") << lines;
  }
}

TEST(PrivateNames, AStepMayBeginTheLine) {
  EXPECT_EQ(Told("s=20 loss=2.5\ns=40 loss=2.25\n#60 loss: 2\n"
                 "80/900 (epoch 0.5), train_loss = 1.5\nt=0.5 loss=1.25"),
            "step=20 loss=2.5\nstep=40 loss=2.25\nstep=60 loss=2\n"
            "step=80 loss=1.5\n");
  EXPECT_EQ(Told("ep0005 loss:2.5\nep0010 loss:2.25"),
            "step=5 loss=2.5\nstep=10 loss=2.25\n");
}

TEST(PrivateNames, AHeadersNamesMayBeOfSeveralWords) {
  EXPECT_EQ(ToldFacts("alike_lines",
                      "      Iter       Train Loss   Remaining Time \n"
                      "         1           1.2500            0.43s\n"
                      "         2           1.1250            0.42s\n"
                      "         3           1.0000            0.41s\n"
                      "         4           0.8750            0.40s\n"
                      "        10           0.7500            0.39s"),
            "step=1 loss=1.25\nstep=2 loss=1.125\nstep=3 loss=1\n"
            "step=4 loss=0.875\nstep=10 loss=0.75\n");
}

}  // namespace
}  // namespace nanwatch
