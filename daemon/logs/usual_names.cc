#include "logs/usual_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "logs/compact_name.h"

namespace nanwatch {
namespace {

using Meaning = ColumnMeaning;

// Usual names, in lower case and without what separates words.
constexpr NamedMeaning kUsual[] = {
    {"step", Meaning::kStep},
    {"steps", Meaning::kStep},
    {"globalstep", Meaning::kStep},
    {"globalsteps", Meaning::kStep},
    {"globalstepmaxsteps", Meaning::kStep},  // ms-swift: "8280/11043"
    {"iteration", Meaning::kStep},
    {"iter", Meaning::kStep},
    {"iters", Meaning::kStep},
    {"itr", Meaning::kStep},
    {"it", Meaning::kStep},
    {"numupdates", Meaning::kStep},
    {"updates", Meaning::kStep},
    {"timebatch", Meaning::kStep},  // Composer: batches up to now
    {"update", Meaning::kCounter},
    {"episode", Meaning::kCounter},
    {"round", Meaning::kCounter},
    {"iterations", Meaning::kCounter},  // Stable-Baselines3
    {"totaltimesteps", Meaning::kCounter},
    {"loss", Meaning::kLoss},
    {"lmloss", Meaning::kCrossEntropy},
    {"lmlosslmloss", Meaning::kCrossEntropy},
    {"lmlosstraininglmloss", Meaning::kCrossEntropy},
    {"totalloss", Meaning::kLoss},
    {"losstotal", Meaning::kLoss},
    {"lossall", Meaning::kLoss},
    {"losssum", Meaning::kLoss},
    {"losstot", Meaning::kLoss},
    {"ltotal", Meaning::kLoss},
    {"ltot", Meaning::kLoss},
    {"losstrain", Meaning::kLoss},
    {"losstraintotal", Meaning::kLoss},  // Composer
    {"avgloss", Meaning::kMeanLoss},
    {"avrloss", Meaning::kMeanLoss},  // kohya's sd-scripts
    {"lossavg", Meaning::kMeanLoss},
    {"averageloss", Meaning::kMeanLoss},
    {"runningloss", Meaning::kMeanLoss},
    {"smoothloss", Meaning::kMeanLoss},
    {"meanloss", Meaning::kMeanLoss},
    {"lossmean", Meaning::kMeanLoss},
    {"globalavgloss", Meaning::kMeanLoss},
    {"cost", Meaning::kLoss},
    {"xent", Meaning::kCrossEntropy},
    {"crossentropy", Meaning::kCrossEntropy},
    {"crossentropyloss", Meaning::kCrossEntropy},
    {"losscrossentropy", Meaning::kCrossEntropy},
    {"xentloss", Meaning::kCrossEntropy},
    {"nll", Meaning::kLoss},
    {"bpb", Meaning::kLoss},
    {"bpc", Meaning::kLoss},
    {"bitsperbyte", Meaning::kLoss},
    {"bitsperchar", Meaning::kLoss},
    {"bitsperdim", Meaning::kLoss},
    {"nllloss", Meaning::kLoss},
    {"celoss", Meaning::kCrossEntropy},
    {"lossce", Meaning::kCrossEntropy},
    {"mlmloss", Meaning::kCrossEntropy},
    {"lossmlm", Meaning::kCrossEntropy},
    {"languagecrossentropy", Meaning::kCrossEntropy},  // Composer
    {"ppl", Meaning::kPerplexity},
    {"perplexity", Meaning::kPerplexity},
    {"elbo", Meaning::kObjective},
    {"evidencelowerbound", Meaning::kObjective},
    {"lowerbound", Meaning::kObjective},
    {"loglikelihood", Meaning::kObjective},
    {"loglik", Meaning::kObjective},
    {"llh", Meaning::kObjective},
    {"logprob", Meaning::kObjective},
    {"marginalloglikelihood", Meaning::kObjective},
    {"meanloglikelihood", Meaning::kObjective},
    {"avgloglikelihood", Meaning::kObjective},
    {"averageloglikelihood", Meaning::kObjective},
    {"negelbo", Meaning::kLoss},
    {"nelbo", Meaning::kLoss},
    {"negativeelbo", Meaning::kLoss},
    {"negativeloglikelihood", Meaning::kLoss},
    {"negloglikelihood", Meaning::kLoss},
    {"mse", Meaning::kMeanLoss},
    {"rmse", Meaning::kMeasure},
    {"rmsetrn", Meaning::kMeasure},  // DeePMD-kit
    {"mae", Meaning::kMeasure},
    {"huber", Meaning::kMeasure},
    {"logloss", Meaning::kMeasure},
    {"bce", Meaning::kMeasure},
    {"ctc", Meaning::kMeasure},
    {"rnnt", Meaning::kMeasure},
    {"ntxent", Meaning::kMeasure},
    {"infonce", Meaning::kMeasure},
    {"hinge", Meaning::kMeasure},
    {"triplet", Meaning::kMeasure},
    {"recon", Meaning::kMeasure},
    {"reconstruction", Meaning::kMeasure},
    {"reconstructionerror", Meaning::kMeasure},
    {"reconerror", Meaning::kMeasure},
    {"residual", Meaning::kMeasure},
    {"energy", Meaning::kMeasure},
    {"crit", Meaning::kMeasure},
    {"binarycrossentropy", Meaning::kCrossEntropy},
    {"categoricalcrossentropy", Meaning::kCrossEntropy},
    {"sparsecategoricalcrossentropy", Meaning::kCrossEntropy},
    {"lossstep", Meaning::kLoss},
    {"steploss", Meaning::kLoss},
    {"batchloss", Meaning::kLoss},
    {"minibatchloss", Meaning::kLoss},  // MATLAB
    {"kl", Meaning::kTerm},
    {"approxkl", Meaning::kTerm},
    {"objectivekl", Meaning::kTerm},
    {"beta", Meaning::kKnob},
    {"klbeta", Meaning::kKnob},
    {"lambda", Meaning::kKnob},
    {"klcoef", Meaning::kKnob},
    {"klcoeff", Meaning::kKnob},
    {"klweight", Meaning::kKnob},
    {"temperature", Meaning::kKnob},
    {"margin", Meaning::kKnob},
    {"maskratio", Meaning::kKnob},
    {"stage", Meaning::kKnob},
    {"phase", Meaning::kKnob},
    {"difficulty", Meaning::kKnob},
    {"len", Meaning::kKnob},
    {"seqlen", Meaning::kKnob},
    {"maxlen", Meaning::kKnob},
    {"seqlength", Meaning::kKnob},
    {"sequencelength", Meaning::kKnob},
    {"contextlength", Meaning::kKnob},
    {"lossd", Meaning::kAdversaryLoss},
    {"lossg", Meaning::kAdversaryLoss},
    {"dloss", Meaning::kAdversaryLoss},
    {"gloss", Meaning::kAdversaryLoss},
    {"errd", Meaning::kAdversaryLoss},
    {"errg", Meaning::kAdversaryLoss},
    {"discloss", Meaning::kAdversaryLoss},
    {"genloss", Meaning::kGeneratorLoss},
    {"lossdisc", Meaning::kAdversaryLoss},
    {"lossgen", Meaning::kGeneratorLoss},
    {"discriminatorloss", Meaning::kAdversaryLoss},
    {"generatorloss", Meaning::kAdversaryLoss},
    {"lossdiscriminator", Meaning::kAdversaryLoss},
    {"lossgenerator", Meaning::kAdversaryLoss},
    {"ggan", Meaning::kAdversaryLoss},  // pix2pix, CycleGAN
    {"gl1", Meaning::kAdversaryLoss},
    {"cyclea", Meaning::kAdversaryLoss},
    {"cycleb", Meaning::kAdversaryLoss},
    {"acc", Meaning::kAccuracy},
    {"acc1", Meaning::kAccuracy},
    {"acctop1", Meaning::kAccuracy},
    {"accuracy", Meaning::kAccuracy},
    {"accuracytop1", Meaning::kAccuracy},
    {"sparsecategoricalaccuracy", Meaning::kAccuracy},  // Keras
    {"categoricalaccuracy", Meaning::kAccuracy},
    {"binaryaccuracy", Meaning::kAccuracy},
    {"top1", Meaning::kAccuracy},
    {"top1acc", Meaning::kAccuracy},
    {"accstep", Meaning::kAccuracy},
    {"reward", Meaning::kReward},
    {"rewards", Meaning::kReward},
    {"episodereward", Meaning::kReward},
    {"episodicreward", Meaning::kReward},
    {"epreward", Meaning::kReward},
    {"meanreward", Meaning::kReward},
    {"rewardmean", Meaning::kReward},
    {"avgreward", Meaning::kReward},
    {"averagereward", Meaning::kReward},
    {"totalreward", Meaning::kReward},
    {"runningreward", Meaning::kReward},
    {"rewardsum", Meaning::kReward},
    {"eprewmean", Meaning::kReward},
    {"rolloutreward", Meaning::kReward},
    {"episodereturn", Meaning::kReward},
    {"episodicreturn", Meaning::kReward},
    {"return", Meaning::kReward},
    {"evalreturn", Meaning::kReward},
    {"epreturn", Meaning::kReward},
    {"meanreturn", Meaning::kReward},
    {"returnmean", Meaning::kReward},
    {"returnsmean", Meaning::kReward},
    {"avgreturn", Meaning::kReward},
    {"averagereturn", Meaning::kReward},
    {"totalreturn", Meaning::kReward},
    {"meanepisodereward", Meaning::kReward},
    {"meanepisodereturn", Meaning::kReward},
    {"scale", Meaning::kLossScale},
    {"scaler", Meaning::kLossScale},
    {"lossscale", Meaning::kLossScale},
    {"lossscaler", Meaning::kLossScale},
    {"lossscaling", Meaning::kLossScale},
    {"lossscalelossscale", Meaning::kLossScale},
    {"dynamiclossscale", Meaning::kLossScale},
    {"currentlossscale", Meaning::kLossScale},
    {"gradscale", Meaning::kLossScale},
    {"gradscaler", Meaning::kLossScale},
    {"gradscalerscale", Meaning::kLossScale},
    {"scalerscale", Meaning::kLossScale},
    {"fp16scale", Meaning::kLossScale},
    {"lglossscale", Meaning::kLog2LossScale},
    {"log2lossscale", Meaning::kLog2LossScale},
    {"gradnorm", Meaning::kGradNorm},
    {"gnorm", Meaning::kGradNorm},
    {"gradnormgradnorm", Meaning::kGradNorm},
    {"gradientnorm", Meaning::kGradNorm},
    {"globalnorm", Meaning::kGradNorm},
    {"globalgradnorm", Meaning::kGradNorm},
    {"globalgradientnorm", Meaning::kGradNorm},
    {"totalnorm", Meaning::kGradNorm},
    {"totalgradnorm", Meaning::kGradNorm},
    {"gradnormtotal", Meaning::kGradNorm},
    {"grad20normtotal", Meaning::kGradNorm},
    {"l2gradnorm", Meaning::kGradNorm},
    {"gradl2norm", Meaning::kGradNorm},
    {"l2normgradglobal", Meaning::kGradNorm},  // Composer
    {"l2grads", Meaning::kGradNorm},           // big_vision
    {"updatenorm", Meaning::kUpdateNorm},
    {"paramnorm", Meaning::kParamNorm},
    {"paramsnorm", Meaning::kParamNorm},
    {"weightnorm", Meaning::kParamNorm},
    {"lr", Meaning::kLearningRate},
    {"lr0", Meaning::kLearningRate},
    {"lrgroup0", Meaning::kLearningRate},
    {"lrpg0", Meaning::kLearningRate},  // Ultralytics
    {"learningrate", Meaning::kLearningRate},
    {"baselearningrate", Meaning::kLearningRate},
    {"learningratelearningrate", Meaning::kLearningRate},
    {"consumedsamples", Meaning::kConsumedSamples},
    {"overflow", Meaning::kOverflow},
    {"overflowed", Meaning::kOverflow},
    {"isoverflow", Meaning::kOverflow},
    {"hasoverflow", Meaning::kOverflow},
    {"gradoverflow", Meaning::kOverflow},
    {"overflowcond", Meaning::kOverflow},
    {"foundinf", Meaning::kOverflow},
    {"skipped", Meaning::kSkipped},
    {"stepskipped", Meaning::kSkipped},
    {"skippedstep", Meaning::kSkipped},
    {"isskipped", Meaning::kSkipped},
    {"skippedsteps", Meaning::kSkippedTotal},
    {"skippediterations", Meaning::kSkippedTotal},
    {"totalskipped", Meaning::kSkippedTotal},
    {"skippedtotal", Meaning::kSkippedTotal},
    {"numskipped", Meaning::kSkippedTotal},
    {"numoverflows", Meaning::kSkippedTotal},
    {"overflowcount", Meaning::kSkippedTotal},
    {"rank", Meaning::kRank},
    {"globalrank", Meaning::kRank},
};

// Where a program files what belongs to the training.
constexpr std::string_view kPrefixes[] = {
    "trainingsamples", "training",    "trainsamples", "trainer",
    "train",           "trn",         "optimizer",    "optim",
    "metrics",         "lossmetrics", "amp",          "losses",
    "rollout",         "charts",      "ppo",          "env"};

// kUsual by a hash of the name: indices + 1, 0: free. Logs ask for hundreds of
// words that are none.
constexpr size_t kUsualSlots = 1024;

constexpr size_t UsualSlot(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  }
  return (hash ^ hash >> 16) % kUsualSlots;
}

constexpr auto kUsualBySlot = [] {
  std::array<uint16_t, kUsualSlots> slots{};
  for (size_t i = 0; i < std::size(kUsual); ++i) {
    size_t slot = UsualSlot(kUsual[i].text);
    while (slots[slot] != 0) slot = (slot + 1) % kUsualSlots;
    slots[slot] = static_cast<uint16_t>(i + 1);
  }
  return slots;
}();
static_assert(2 * std::size(kUsual) < kUsualSlots);

Meaning LookUsual(std::string_view text) {
  for (size_t slot = UsualSlot(text); kUsualBySlot[slot] != 0;
       slot = (slot + 1) % kUsualSlots) {
    const NamedMeaning& name = kUsual[kUsualBySlot[slot] - 1u];
    if (name.text == text) return name.meaning;
  }
  return Meaning::kNothing;
}

// Letters of either case and digits as 0 to 35; the rest separates words.
constexpr size_t kSeparator = 36;
constexpr size_t Letter(char c) {
  if (c >= 'a' && c <= 'z') return static_cast<size_t>(c - 'a');
  if (c >= 'A' && c <= 'Z') return static_cast<size_t>(c - 'A');
  if (c >= '0' && c <= '9') return static_cast<size_t>(c - '0') + 26;
  return kSeparator;
}

// The last two letters of usual names.
constexpr auto kUsualEnds = [] {
  std::array<std::array<bool, kSeparator>, kSeparator> ends{};
  for (const NamedMeaning& name : kUsual) {
    const size_t size = name.text.size();
    ends[Letter(name.text[size - 2])][Letter(name.text[size - 1])] = true;
  }
  return ends;
}();

// A term's weight, by how its name ends: "aux_weight", "w_kl_coef".
bool IsWeight(std::string_view text) {
  constexpr std::string_view kEnds[] = {"weight", "coef", "coeff", "lambda"};
  return std::any_of(
      std::begin(kEnds), std::end(kEnds),
      [text](std::string_view end) { return text.ends_with(end); });
}

// `size`: of the whole name, compact.
Meaning CoreMeaning(std::string_view name, size_t size) {
  if (name.find_first_of("_/.- [(") == name.npos) return Meaning::kNothing;
  NameRoom room;
  const CoreName core = CoreOf(name, &room);
  if (core.text.size() < 2 || core.text.size() == size) {
    return Meaning::kNothing;
  }
  const Meaning found = LookUsual(core.text);
  // "loss_1" and "loss_2" are terms.
  if (core.numbered && found != Meaning::kReward &&
      found != Meaning::kAccuracy) {
    return Meaning::kNothing;
  }
  return core.mean && found == Meaning::kLoss ? Meaning::kMeanLoss : found;
}

}  // namespace

bool MayBeUsual(std::string_view name) {
  const size_t size = name.size();
  if (size < 2) return false;  // all have more
  const size_t last = Letter(name[size - 1]);
  const size_t before = Letter(name[size - 2]);
  const bool known = last != kSeparator && before != kSeparator;
  return !known || kUsualEnds[before][last];
}

Meaning UsualMeaning(std::string_view name) {
  NameRoom room;
  std::string_view text = Compact(name, &room);
  Meaning found = LookUsual(text);
  for (size_t strips = 0; strips < 3 && found == Meaning::kNothing; ++strips) {
    const auto prefix = std::find_if(
        std::begin(kPrefixes), std::end(kPrefixes),
        [text](std::string_view p) { return text.starts_with(p); });
    if (prefix == std::end(kPrefixes)) break;
    text.remove_prefix(prefix->size());
    found = LookUsual(text);
  }
  if (found == Meaning::kNothing && IsWeight(text)) return Meaning::kKnob;
  if (found == Meaning::kNothing) found = CoreMeaning(name, text.size());
  // "-ELBO".
  if (found == Meaning::kObjective && name.starts_with('-')) {
    return Meaning::kLoss;
  }
  return found;
}

}  // namespace nanwatch
