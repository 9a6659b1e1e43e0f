// ColumnMeaning: what a number of a log is, whatever it is called there.

#ifndef NANWATCH_LOGS_COLUMN_MEANING_H_
#define NANWATCH_LOGS_COLUMN_MEANING_H_

#include <cstdint>
#include <string_view>

namespace nanwatch {

enum class ColumnMeaning : uint8_t {
  kNothing,
  kStep,
  kCounter,  // of updates, of episodes: the step where no other is beside it
  kLoss,
  // A mean over steps before, or what else stands for the loss: where no other
  // is beside it.
  kMeanLoss,
  kTermLoss,        // "ctc loss", the same: one of those that a loss adds up
  kMeanTerm,        // "avg ctc loss", the same of a mean
  kSquares,         // the same: an MSE, which may be a term as well
  kPerplexity,      // the same, where the log shows no other loss
  kObjective,       // that rises (an ELBO): its negative, as a perplexity
  kMeasure,         // what a loss measures (an RMSE), as a perplexity
  kReconstruction,  // the same, of an autoencoder
  kTotal,           // the loss, where only what it measures stands beside it
  kWeakMeasure,   // the same, by a name that others use, too (LogFact::guessed)
  kCrossEntropy,  // the loss, where no loss of the whole stands beside it
  kAdversaryLoss,  // of a GAN's discriminator or generator
  kGeneratorLoss,  // the same, by a name that others use, too
  kReward,         // of an environment: it says what the training is
  kWeakReward,     // the same, by a name that others use, too: of episodes
  kAccuracy,       // of classes: it says what the training is
  kScore,          // of what it says, at worst 0: an F-measure
  kExplained,      // the same, at worst about 0: a share of the variance
  kErrorRate,      // the same, at worst 1: a WER, also in percent
  kTerm,           // of the loss: told where it is not finite
  kDivergence,     // such a term; of latents, beside a reconstruction
  kKnob,           // says what the loss is made of: a term's weight, a length
  kLossScale,
  kLog2LossScale,
  kGradNorm,
  kWeakNorm,  // the same, by a name that others use, too: only beside a loss
  kUpdateNorm,
  kParamNorm,
  kLearningRate,
  kConsumedSamples,
  kOverflow,      // true, false or a number that is not 0
  kSkipped,       // the same, or a count
  kSkippedTotal,  // since the start
  kRank,          // the last one
};

struct NamedMeaning {
  std::string_view text;
  ColumnMeaning meaning = ColumnMeaning::kNothing;
};

// A loss of the whole, and no adversary's.
constexpr bool IsLoss(ColumnMeaning meaning) {
  return meaning == ColumnMeaning::kLoss ||
         meaning == ColumnMeaning::kMeanLoss ||
         meaning == ColumnMeaning::kTermLoss ||
         meaning == ColumnMeaning::kMeanTerm ||
         meaning == ColumnMeaning::kCrossEntropy ||
         meaning == ColumnMeaning::kSquares ||
         meaning == ColumnMeaning::kPerplexity ||
         meaning == ColumnMeaning::kObjective ||
         meaning == ColumnMeaning::kMeasure ||
         meaning == ColumnMeaning::kReconstruction ||
         meaning == ColumnMeaning::kWeakMeasure;
}

constexpr bool IsAnyLoss(ColumnMeaning meaning) {
  return IsLoss(meaning) || meaning == ColumnMeaning::kAdversaryLoss ||
         meaning == ColumnMeaning::kGeneratorLoss;
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COLUMN_MEANING_H_
