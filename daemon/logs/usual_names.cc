#include "logs/usual_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/fnv1a.h"
#include "logs/compact_name.h"

namespace nanwatch {
namespace {

using Meaning = ColumnMeaning;

struct UsualNamesOf {
  Meaning meaning;
  std::string_view names;  // with blanks between
};
// Usual names, in lower case and without what separates words.
constexpr UsualNamesOf kUsual[] = {
    {Meaning::kStep,
     "step steps globalstep globalsteps globalstepmaxsteps globaliter "
     "globaliteration iteration iter "
     "iters itr it numupdates nupdates updates totaltrainupdates "
     "timebatch"},
    {Meaning::kCounter,
     "update episode round iterations frame frames kimg totalsteps "
     "totaltimesteps "
     "totalenvinteracts timestepssofar episodessofar"},
    {Meaning::kLoss,
     "loss totalloss totloss overallloss allloss losstotal lossall losssum "
     "losstot "
     "ltotal ltot losstrain "
     "losstraintotal cost currentcost nll nlltoken nlltok nllword natstoken "
     "bitsbyte bitschar bpb bpc bitsperbyte bitsperchar bitsperdim "
     "nllloss negelbo nelbo negativeelbo negativeloglikelihood "
     "negloglikelihood losspersample lossstep steploss batchloss "
     "minibatchloss"},
    {Meaning::kCrossEntropy,
     "ce lmloss lmlosslmloss lmlosstraininglmloss xent crossentropy "
     "crossentropyloss losscrossentropy xentloss celoss lossce mlmloss "
     "lossmlm languagecrossentropy binarycrossentropy "
     "categoricalcrossentropy sparsecategoricalcrossentropy mlm"},
    {Meaning::kMeanLoss,
     "avgloss avrloss lossavg epochloss averageloss runningloss smoothloss "
     "meanloss "
     "lossmean globalavgloss avgcost averagecost"},
    {Meaning::kSquares, "mse"},
    {Meaning::kPerplexity, "ppl perplexity"},
    {Meaning::kObjective,
     "elbo evidencelowerbound lowerbound loglikelihood loglik llh logprob "
     "marginalloglikelihood meanloglikelihood avgloglikelihood "
     "averageloglikelihood"},
    {Meaning::kMeasure,
     "rmse rmsetrn mae huber logloss binarylogloss multilogloss bce ctc "
     // XGBoost's metrics that are losses.
     "mlogloss rmsle mphe poissonnloglik gammanloglik coxnloglik "
     "gammadeviance "
     "rnnt "
     "ntxent infonce nce simclr "
     "hinge "
     "triplet residual "
     "energy crit smoothl1 pinball bpr crps deviance sse tderror tdloss"},
    {Meaning::kTotal, "total"},
    {Meaning::kReconstruction,
     "recon reconstruction reconstructionerror reconerror"},
    {Meaning::kWeakMeasure,
     "td fval quantile focal xe "
     // Of what a generator makes.
     "fid fid5k fid10k fid50k fid50kfull fidfull fidscore"},
    {Meaning::kTerm, "approxkl objectivekl"},
    {Meaning::kDivergence, "kl kld kldivergence"},
    {Meaning::kKnob,
     "beta klbeta lambda klcoef klcoeff klweight temperature margin "
     "maskratio stage phase difficulty lesson rollout unroll horizon "
     "resolution imgsize imagesize len seqlen maxlen seqlength "
     "sequencelength contextlength"},
    {Meaning::kAdversaryLoss,
     "lossd lossg dloss gloss errd errg discloss lossdisc "
     "discriminatorloss generatorloss lossdiscriminator lossgenerator ggan "
     "gl1 cyclea cycleb lossgloss lossdloss"},
    {Meaning::kGeneratorLoss, "genloss lossgen disloss"},
    {Meaning::kAccuracy,
     "acc acc1 acctop1 accuracy accuracytop1 sparsecategoricalaccuracy "
     "categoricalaccuracy binaryaccuracy top1 top1acc accstep"},
    {Meaning::kScore, "fscore f1 f1score fmeasure bleu auc auroc map miou iou"},
    {Meaning::kExplained, "r2 r2score rsquared"},
    {Meaning::kErrorRate,
     "wer cer ter worderrorrate charactererrorrate tokenerrorrate"},
    {Meaning::kReward,
     "reward rewards episodereward episodicreward epreward meanreward "
     "rewardmean avgreward averagereward totalreward runningreward rewardsum "
     "eprewmean rolloutreward episodereturn episodicreturn return evalreturn "
     "epreturn meanreturn returnmean returnsmean avgreturn averagereturn "
     "averageepret "
     "totalreturn meanepisodereward meanepisodereturn epret rew eprew "
     "testreward testreturn evalreward evalepisodereward "
     "evalepisodereturn"},
    {Meaning::kWeakReward, "score mean10 mean100 avg10 avg20 avg100"},
    {Meaning::kLossScale,
     "scale scaler lossscale lossscaler lossscaling lossscalelossscale "
     "dynamiclossscale currentlossscale gradscale gradscaler gradscalerscale "
     "scalerscale fp16scale"},
    {Meaning::kLog2LossScale, "lglossscale log2lossscale"},
    {Meaning::kGradNorm,
     "gradnorm gnorm gradnormgradnorm gradientnorm globalnorm globalgradnorm "
     "globalgradientnorm totalnorm totalgradnorm gradnormtotal "
     "grad20normtotal l2gradnorm gradl2norm l2normgradglobal l2grads"},
    {Meaning::kWeakNorm, "gn grads"},
    {Meaning::kUpdateNorm, "updatenorm"},
    {Meaning::kParamNorm, "paramnorm paramsnorm weightnorm"},
    {Meaning::kLearningRate,
     "lr lr0 lrgroup0 lrpg0 learningrate baselearningrate "
     "learningratelearningrate"},
    {Meaning::kConsumedSamples, "consumedsamples"},
    {Meaning::kOverflow,
     "overflow overflowed isoverflow hasoverflow gradoverflow overflowcond "
     "foundinf"},
    {Meaning::kSkipped, "skipped stepskipped skippedstep isskipped"},
    {Meaning::kSkippedTotal,
     "skippedsteps skippediterations totalskipped skippedtotal numskipped "
     "numoverflows overflowcount"},
    {Meaning::kRank, "rank globalrank"},
};

// German, French, Spanish, Italian and Portuguese, without accents. Their
// numbers have commas, which most readers take for the end of one.
constexpr UsualNamesOf kForeign[] = {
    {Meaning::kLoss,
     "verlust trainingsverlust perte perdida prdida perdita perda"},
    {Meaning::kAccuracy, "genauigkeit exactitude prcision precisin"},
    {Meaning::kLearningRate,
     "lernrate tauxapprentissage tauxdapprentissage tasadeaprendizaje"},
    {Meaning::kStep, "schritt"},
    {Meaning::kGradNorm, "gradientennorm normegradient normedugradient"},
};

// Where a program files what belongs to the training.
constexpr std::string_view kPrefixes[] = {
    "trainingsamples", "training",    "trainsamples", "trainer",
    "train",           "trn",         "optimizer",    "optim",
    "metrics",         "lossmetrics", "amp",          "losses",
    "rollout",         "charts",      "ppo",          "env",
    "progress"};

// What a number is of, at the end of its name: "mse_train", "mse_holdout".
constexpr std::string_view kSets[] = {"train", "training", "trn",
                                      "tr",    "val",      "valid",
                                      "test",  "holdout",  "validation"};

// Gives each name of a table to `visit`.
template <typename Visit>
constexpr void ForEachName(std::span<const UsualNamesOf> table, Visit visit) {
  for (const UsualNamesOf& group : table) {
    for (std::string_view left = group.names; !left.empty();) {
      const size_t end = std::min(left.find(' '), left.size());
      visit(NamedMeaning{left.substr(0, end), group.meaning});
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
}

// The usual names by a hash. Logs ask for hundreds of words that are none.
constexpr size_t kUsualSlots = 1024;
constexpr size_t UsualSlot(std::string_view text) {
  Fnv1a hash;
  hash.Put(text);
  return (hash.value() ^ hash.value() >> 32) % kUsualSlots;
}
using Slots = std::array<NamedMeaning, kUsualSlots>;
constexpr Slots BySlot(std::span<const UsualNamesOf> table) {
  Slots slots{};
  ForEachName(table, [&slots](const NamedMeaning& name) {
    size_t slot = UsualSlot(name.text);
    while (!slots[slot].text.empty()) slot = (slot + 1) % kUsualSlots;
    slots[slot] = name;
  });
  return slots;
}
constexpr Slots kUsualBySlot = BySlot(kUsual);
constexpr Slots kForeignBySlot = BySlot(kForeign);

// Names beside which their set stands: "train_err", "valid_0's l2". Alone they
// may be a count of faults, or a norm of weights.
constexpr std::string_view kOfSet[] = {"err", "error", "l1", "l2"};

Meaning LookIn(const Slots& slots, std::string_view text) {
  size_t slot = UsualSlot(text);
  while (!slots[slot].text.empty() && slots[slot].text != text) {
    slot = (slot + 1) % kUsualSlots;
  }
  return slots[slot].meaning;
}

Meaning LookUsual(std::string_view text) { return LookIn(kUsualBySlot, text); }

Meaning LookOfSet(std::string_view text) {
  const Meaning found = LookUsual(text);
  const bool weak = std::ranges::find(kOfSet, text) != std::end(kOfSet);
  return found == Meaning::kNothing && weak ? Meaning::kWeakMeasure : found;
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
  ForEachName(kUsual, [&ends](const NamedMeaning& name) {
    const size_t size = name.text.size();
    ends[Letter(name.text[size - 2])][Letter(name.text[size - 1])] = true;
  });
  const auto add = [&ends](std::string_view name) {
    const size_t size = name.size();
    ends[Letter(name[size - 2])][Letter(name[size - 1])] = true;
  };
  for (const std::string_view set : kSets) add(set);
  for (const std::string_view name : kOfSet) add(name);
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
  const Meaning found = LookOfSet(core.text);
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
  if (size < 2) return name == "R";  // all others have more
  const size_t last = Letter(name[size - 1]);
  const size_t before = Letter(name[size - 2]);
  const bool known = last != kSeparator && before != kSeparator;
  return !known || kUsualEnds[before][last];
}

Meaning UsualMeaning(std::string_view name) {
  if (name == "R") return Meaning::kWeakReward;
  NameRoom room;
  std::string_view text = Compact(name, &room);
  Meaning found = LookUsual(text);
  for (size_t strips = 0; strips < 3 && found == Meaning::kNothing; ++strips) {
    const auto prefix = std::find_if(
        std::begin(kPrefixes), std::end(kPrefixes),
        [text](std::string_view p) { return text.starts_with(p); });
    if (prefix == std::end(kPrefixes)) break;
    text.remove_prefix(prefix->size());
    found = LookOfSet(text);
  }
  if (found == Meaning::kNothing && IsWeight(text)) return Meaning::kKnob;
  if (found == Meaning::kNothing) found = CoreMeaning(name, text.size());
  // "-ELBO".
  if (found == Meaning::kObjective && name.starts_with('-')) {
    return Meaning::kLoss;
  }
  return found;
}

bool NeedsItsSet(std::string_view name) {
  return std::ranges::find(kOfSet, name) != std::end(kOfSet);
}

Meaning EvaluationMeaning(std::string_view name) {
  NameRoom room;
  const std::string_view core = CoreOfEvaluation(name, &room);
  const Meaning found = core.empty() ? Meaning::kNothing : LookOfSet(core);
  return IsLoss(found) ? found : Meaning::kNothing;
}

bool IsEvaluatedAccuracy(std::string_view name) {
  NameRoom room;
  return LookUsual(CoreOfEvaluation(name, &room)) == Meaning::kAccuracy;
}

Meaning ForeignMeaning(std::string_view name) {
  NameRoom room;
  return LookIn(kForeignBySlot, Compact(name, &room));
}

}  // namespace nanwatch
