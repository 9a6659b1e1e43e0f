// What lines of no known program say of their step, epoch and loss without
// punctuation, and where in a line that is: "Step 10", "Epoch [7/20]",
// "[640/60000 (1%)]", "train loss 2.31".

#ifndef NANWATCH_LOGS_IN_WORDS_H_
#define NANWATCH_LOGS_IN_WORDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/scan.h"

namespace nanwatch {

class ColumnFact;

// A step, with the epoch and the number of steps in it, where they stand with
// it.
struct StepPlace {
  int64_t step = 0;
  int64_t whole = 0;  // 0: not told
  std::optional<int64_t> epoch;
  bool counts_epochs = false;  // by a bar's rate: "26.9s/epoch"
  bool of_batches = false;     // by its word: they begin anew in each epoch
  bool so_far = false;  // the line's numbers are means of all up to this one
};

// A progress bar, "45%|####  | 176/391 [00:10<00:12, 9.8it/s, loss=2.3]".
struct BarPlace {
  size_t begin = 0;  // of the sign behind its percentage
  size_t end = 0;    // of its clocks; behind it the rate and what is added
  StepPlace step;
};
std::optional<BarPlace> BarIn(std::string_view line);

// The count behind a bar that shows no percentage: "[>>>   ] 20430/600000,". Of
// two bars the first one's is the epoch.
std::optional<StepPlace> StepBehindDrawing(std::string_view line);

// Where the first bar of a line ends that others are glued to: a file that lost
// its carriage returns has whole trainings in a line. npos: it has one at most.
size_t EndOfGluedBar(std::string_view line);

// The step behind the percentage of a bar, "%|#  | 180/3000 [": a share of
// something is none of our numbers.
std::optional<StepPlace> PartOfBar(std::string_view text);

// Behind a word, "Step 10", "[iter 10/200]", "batch 300,", "episode 7"; of a
// whole, "batch: 10/625"; in brackets or a
// progress bar, "[ 6400/60000]", "[1/5][100/600]", "[1,  2000] loss",
// "45%|####  | 176/391 ["; at the line's start, "255/900 (epoch 0.3)"; right
// behind the epoch's number, "Epoch 7/300 600/1000 loss"; or at the line's end,
// " 99/391". `*in_bar`: it was in a bar.
std::optional<StepPlace> StepInWords(std::string_view line, bool* in_bar);

// "255/22150 (epoch 0.57), loss", "8004/50000: episode": a ratio at the line's
// start. A date is none.
std::optional<StepPlace> RatioAtStart(std::string_view line);

// "Epoch: 1  Batch: 100", "epoch: 0, batch_id: 10", "Batch=100": the batch, and
// the epoch of a line that names one. It may be a size.
std::optional<StepPlace> CountOfBatch(std::string_view line);

// "Epoch [7/20]", "epoch: 7", "epoch=7.5": a word, and a number behind it.
std::optional<double> EpochInWords(std::string_view line);

// The same of a line that says nothing else: "===> EPOCH 1:", "Epoch 3/10",
// "Eval epoch: 4".
struct EpochHeading {
  int64_t epoch = 0;
  int64_t whole = 0;        // of so many; 0: not told
  bool evaluation = false;  // of an evaluation behind it
};
std::optional<EpochHeading> EpochAlone(std::string_view line);

// What stands behind the word that ends `text` is a unit: "time per step".
bool IsOfEach(std::string_view text);

// The word at the end of `text`, without what follows it.
std::string_view LastWord(std::string_view text);

// A training's loss, "train loss 2.31,", "ce_loss 2.31"; of losses by other
// names, "kl_loss 0.31", the sum. Not a share, "loss 5%".
struct NamedLoss {
  double value = 0;
  std::optional<double> rival;  // the other one's: it is a GAN player's
  bool cross_entropy = false;   // by its name
  bool parts = false;           // a sum of such losses
  bool of_policy = false;       // or of what says how good an action is
  bool weak = false;  // by a word that means other things, too: "cost"
  size_t at = 0;      // behind its name, or the last one's
};
std::optional<NamedLoss> LossInWords(std::string_view line);

// "Step 100: Val Loss 4.89 | LR:": where an evaluation's begins.
std::optional<size_t> EvaluationLossInWords(std::string_view line);

// "Loss is NaN", of a step that was made: not "stops if the loss is NaN", nor
// one that was skipped.
bool SaysLossIsNaN(std::string_view line);

// Beside such a loss: "loss_scale 65536", "grad norm inf". As printed there.
std::optional<Scan::Printed> GradNormInWords(std::string_view line);
// Adds what such a line says of its scale, norm, rate, accuracy and game.
void AddBesideLoss(std::string_view line, ColumnFact* fact);

// The loss scale after an update that was left out, of a line that says both:
// "OVERFLOW! skipping update, loss scale now 1024", "inf grads, step skipped
// (scale -> 512)". Not in the words of libraries that have readers of theirs.
std::optional<Scan::Printed> ScaleOfSkip(std::string_view line);

// Whether what a line says beside a score is of a game: "episode 3", "eps:
// 0.5".
bool SpeaksOfEpisodes(std::string_view line);

// Whether the line is Python's print of settings, or of a training's result:
// "Namespace(lr=0.1, step=0)", "TrainOutput(global_step=500, loss=0.3)".
bool IsSettings(std::string_view line);

// "Early stopping, best iteration is:", behind which a line of before is said
// again.
bool SaysBestFollows(std::string_view line);

// "Epoch[4] Train-CrossEntropy=nan", MXNet's line at an epoch's end: of the
// metric that its lines of batches set back, what came since, which may be
// nothing.
bool IsRestOfEpoch(std::string_view line);

// One of the words of `prose` says that no training is spoken of.
bool IsEvaluation(std::string_view prose);
// "Walker: " of "INFO:a.trainers: cpu_test: Walker: ": the last title says what
// the line speaks of; those of glued words before it name a logger or a run.
std::string_view LastTitle(std::string_view prose);
// A word that names a time, and where it stands beside "cost" makes that one:
// "Time cost", "cost (sec)". In lower case.
bool NamesTime(std::string_view word);
bool NamesUnitOfTime(std::string_view word);
// A word that names a score, which rises and is no loss: "objectacc", "auc". In
// lower case.
bool NamesScore(std::string_view word);
// Returns what the words before a loss call it, as the run's settings do:
// "contrastive" of "InfoNCE loss: 5.9", "denoising" of "avr_loss=0.1"; else "".
std::string_view KindOfLossNamed(std::string_view before);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_IN_WORDS_H_
