#include "logs/number_words.h"

#include <string>

#include "logs/each_word.h"
#include "logs/in_words.h"
#include "logs/loss_parts.h"
#include "logs/one_of.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

// What programs call a loss besides its usual names; of these, letters and
// "total" count only beside a step's word.
constexpr std::string_view kLossWords[] = {"obj",    "objf",     "objective",
                                           "cost",   "fehler",   "pérdida",
                                           "strata", "criterion"};
constexpr std::string_view kWeakWords[] = {"j",     "l",   "ce",   "tot",
                                           "total", "err", "error"};
constexpr std::string_view kStepWords[] = {
    "step",   "steps",   "it",         "iter",  "iters", "iteration", "upd",
    "update", "updates", "batch",      "k",     "s",     "n",         "schritt",
    "round",  "episode", "globalstep", "etape", "bt",    "b"};
constexpr std::string_view kRateWords[] = {"sps", "fps",   "ips",
                                           "tps", "speed", "throughput"};
constexpr std::string_view kEpochWords[] = {"epoch", "ep", "epoche", "e"};
// They are maximised where they are logarithms of probabilities, below 0.
constexpr std::string_view kObjectives[] = {"obj", "objf"};
constexpr std::string_view kTensorWords[] = {"tensor", "device", "cuda"};
constexpr std::string_view kTrainWords[] = {"train", "training", "trn", "tr"};
constexpr std::string_view kNegatives[] = {"neg", "negative"};
constexpr std::string_view kOtherLosses[] = {"best", "min", "lowest", "last"};

// "loss_ema", "logloss", "elbo_loss". Packets are lost, too; and losses have
// times and weights.
bool IsKindOfLoss(std::string_view word) {
  return (word.starts_with("loss") || word.ends_with("loss")) &&
         word.find("packet") == word.npos && !word.ends_with("time") &&
         !word.ends_with("weight");
}

// "time cost", "cost time", "cost (sec)": neither is a loss.
bool IsTimeCost(std::string_view before, std::string_view word) {
  const bool time = NamesTime(before) && !NamesUnitOfTime(before);
  return (word == "cost" && time) || (before == "cost" && NamesTime(word));
}

// "loss@512": that of a length, or of a rank, alone.
bool IsLossAt(std::string_view text) {
  const size_t at = text.find("oss@");
  return at != text.npos && at + 4 < text.size() && IsDigit(text[at + 4]);
}

// "loss_total", "total loss", "loss_all", and "loss" without another word.
bool IsWholeLoss(std::string_view text) {
  const ColumnMeaning usual = UsualMeaning(text);
  return usual == ColumnMeaning::kLoss || usual == ColumnMeaning::kMeanLoss ||
         usual == ColumnMeaning::kSquares;
}

// Takes in what one of the words of `text` says, which means `usual` alone or
// with the one before it.
void Weigh(std::string_view text, std::string_view word, ColumnMeaning usual,
           bool negated, NumberWords* found) {
  if (usual == ColumnMeaning::kObjective || usual == ColumnMeaning::kMeasure ||
      usual == ColumnMeaning::kReconstruction) {
    found->Raise(LossWord::kNamed,
                 usual == ColumnMeaning::kObjective && !negated);
  } else if (usual == ColumnMeaning::kWeakMeasure) {
    found->Raise(LossWord::kWeak, false);
  } else if (usual == ColumnMeaning::kTotal) {
    found->Raise(LossWord::kWeak, false);
    found->usual = usual;
  } else if (IsLoss(usual)) {
    found->Raise(IsWholeLoss(text) ? LossWord::kWhole : LossWord::kLoss, false);
  } else if (usual == ColumnMeaning::kAccuracy) {
    found->Raise(LossWord::kAccuracy, true);
    found->usual = usual;
  } else if (usual == ColumnMeaning::kReward) {
    found->Raise(LossWord::kReward, true);
    found->usual = usual;
  } else if (usual != ColumnMeaning::kNothing &&
             usual != ColumnMeaning::kWeakReward) {
    found->usual = usual;
  } else if (IsKindOfLoss(word)) {
    found->Raise(LossWord::kPart, false);
    found->part |= IsPartOfLoss(word);
  } else if (IsOneOf(word, kLossWords)) {
    found->Raise(LossWord::kNamed, false);
    found->rises_below_zero |= IsOneOf(word, kObjectives);
  } else if (IsOneOf(word, kWeakWords)) {
    found->Raise(LossWord::kWeak, false);
  } else if (IsOneOf(word, kTrainWords)) {
    found->Raise(LossWord::kTrain, false);
  }
}

}  // namespace

NumberWords WordsOf(std::string_view text) {
  NumberWords found;
  const bool evaluation = IsEvaluation(text);
  bool other = false;
  bool score = false;
  std::string before;
  // "-ELBO", "negative log-likelihood".
  bool negated =
      text.find("-ELBO") != text.npos || text.find("-elbo") != text.npos;
  LossWord loss = LossWord::kNone;  // of the words before the last one
  std::string two;  // the word before and this one: "gradient norm"
  ForEachWord(text, [&](std::string_view word) {
    found.any |= !IsOneOf(word, kStepWords) && !IsOneOf(word, kEpochWords) &&
                 !IsOneOf(word, kTensorWords);
    other |= IsOneOf(word, kOtherLosses) || IsTimeCost(before, word);
    score |= NamesScore(word);
    before = word;
    negated |= IsOneOf(word, kNegatives);
    found.step |= IsOneOf(word, kStepWords);
    found.epoch |= IsOneOf(word, kEpochWords);
    found.rate |= IsOneOf(word, kRateWords);
    // Others have scales, too.
    const ColumnMeaning alone = word == "scale" || word == "scaler"
                                    ? ColumnMeaning::kNothing
                                    : UsualMeaning(word);
    two += word;
    const ColumnMeaning both = UsualMeaning(two);
    // "loss scale": it was none.
    if (both == ColumnMeaning::kLossScale) found.loss = loss;
    loss = found.loss;
    const ColumnMeaning usual = both != ColumnMeaning::kNothing ? both
                                : alone != ColumnMeaning::kNothing
                                    ? alone
                                    : ForeignMeaning(word);
    two = word;
    Weigh(text, word, usual, negated, &found);
  });
  if (UsualMeaning(TrimBlanks(text)) == ColumnMeaning::kStep) {
    found.any = false;
  }
  // "Train-Accuracy".
  if (found.loss == LossWord::kTrain &&
      found.usual == ColumnMeaning::kAccuracy) {
    found.loss = LossWord::kAccuracy;
    found.rises = true;
  }
  // "Train-ObjectAcc".
  const bool scored = score && found.loss == LossWord::kTrain;
  if (evaluation || other || scored || IsLossAt(text)) {
    found.loss = LossWord::kNone;
    found.part = false;
  }
  return found;
}

}  // namespace nanwatch
