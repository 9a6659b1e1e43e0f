// What is known of the numbers that a run's program reports, by its name.

#ifndef NANWATCH_DETECT_PROGRAM_H_
#define NANWATCH_DETECT_PROGRAM_H_

#include <cstdint>

#include "model/run.h"

namespace nanwatch {

// It trains models of language and nothing else, by its framework's name; so
// its loss is a cross-entropy of words, in nats.
bool TrainsLanguage(const RunDescription& run);

// Its loss is a cross-entropy: the run says so (settings: loss), or, where it
// says nothing, trains language.
bool IsCrossEntropy(const RunDescription& run);

// The run says what loss it is (settings: loss).
bool NamesLoss(const RunDescription& run);

// Its loss is what an accuracy lacks, or the negative of a reward (settings:
// loss): 0 is a score as good as others.
bool IsOfScore(const RunDescription& run);

// More is right than wrong (settings: accuracy).
bool IsMostlyRight(const RunDescription& run);

// Its loss is what an accuracy lacks (settings: loss), and most is right
// (settings: accuracy): one of 0 is the best that there is.
bool LacksAccuracy(const RunDescription& run);

// Its loss is that of guessing a sample among others (settings: loss).
bool IsContrastive(const RunDescription& run);

// Its loss follows the rewards that it comes to (settings: trains_on).
bool FollowsRewards(const RunDescription& run);

// Losses of several optimizers have one aim (settings: losses): none grows as
// another falls.
bool HasOneAim(const RunDescription& run);

// Returns the loss of an untrained model: as the run says (settings:
// untrained_loss), else `guessing` where it trains language, else 0.
float UntrainedLoss(const RunDescription& run, float guessing);

// Returns the loss of guessing among as many classes as the last layer has
// outputs (settings: last_layer), where a fresh model's `first` loss shows that
// it is a cross-entropy among them; else 0.
float LossOfClasses(const RunDescription& run, float first);

// The accuracies that the run prints (settings: accuracy) are what guessing
// gives that costs `cost`.
bool AccuracyIsOfGuessing(const RunDescription& run, float cost);

// Returns what guessing costs among 10, 100 or 1,000 classes, where `loss` is
// that or up to 0.2 above, and no accuracy of an evaluation (settings:
// evaluation_accuracy) is better than guessing; else 0.
float CostByEvaluations(const RunDescription& run, float loss);

// Its loss is an evaluation's (settings: loss), which rises as data are learned
// by heart.
bool ShowsEvaluations(const RunDescription& run);

// Its loss need not fall: it goes on from a checkpoint (settings: begins), or
// measures the noise of a diffusion model (settings: loss), which has a floor.
bool MayStandFromStart(const RunDescription& run);

// Returns a setting of the run that is a count; else 0.
int64_t CountOf(const RunDescription& run, const char* name);

// The square of a number of that run leaves the range of fp32, in which clips
// and optimizers compute with it; but where they do in fp64.
bool IsWide(const RunDescription& run, double number);

// The loss of a step line is the mean over the steps since the last line.
bool TellsMeans(const RunDescription& run);

// A record stands for an epoch (settings: records, "epochs").
bool TellsEpochs(const RunDescription& run);

// The same, of lines that are `steps` apart, or an epoch each: a mean over so
// many batches that their noise is gone.
bool TellsMeansOfMany(const RunDescription& run, int64_t steps);

// A weight or a length of the objective that the run prints moved between these
// steps, both included (settings: objective_moves, "600-700 1200-1200"): the
// loss that rises with it is another one.
bool ObjectiveMoved(const RunDescription& run, int64_t from, int64_t to);

// The run went on, after its program broke off or from a checkpoint, between
// these steps, the first one included (settings: resumed_after).
bool ResumedAfter(const RunDescription& run, int64_t from, int64_t before);

// Returns the lowest loss scale that its program takes for usual: 1, or less
// where it begins there and raises what is lower itself.
double LeastUsualScale(const RunDescription& run);

// Its steps were counted, since nothing told them (settings: steps): a record
// may stand for many updates.
bool CountsSteps(const RunDescription& run);

// A learning rate of 0 is one, and no small one that was printed with few
// digits.
bool TellsRatesExactly(const RunDescription& run);

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_PROGRAM_H_
