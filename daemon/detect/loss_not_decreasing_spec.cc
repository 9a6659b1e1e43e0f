// What loss_not_decreasing says of itself.

#include "detect/loss_not_decreasing.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"steps", 2000, 10, 1e9, "steps",
     "SageMaker asks after 10; a language model's warm-up takes 2000"},
    {"min_share", 0.001, 0, 1, "ratio",
     "SageMaker; at 1 % a fine-tuning that begins on its plateau would be "
     "accused"},
    {"guesses", 200, 16, 1e9, "records",
     "ours: nets that learn leave guessing within tens"},
};

}  // namespace

constinit const RuleSpec LossNotDecreasing::kSpec = {
    RuleId::kLossNotDecreasing,
    "loss_not_decreasing",
    Family::kLoss,
    "The loss does not move: not since the start, or not any more.",
    "From `guesses` records after the learning rate rose to its highest, or "
    "`steps` steps after the start (of a log that is over: 200 steps, and 32 "
    "records), of a run that was not resumed: the mean of the last third of "
    "the losses is no share of `min_share` below that of the first, and their "
    "noise could not hide a fall of 1 %; or of 8 records that are means over "
    "an epoch, or over 100 steps, none is 1 % from another, and the last "
    "third is no share of `min_share` below the first. Where no batch moves "
    "the loss (its noise is below 0.3 %) the third in the middle counts as "
    "the first, unless 5 % was learned, no rate is asked for, and 32 records "
    "are enough at the end of a log. So is a loss of exactly 0 in all records "
    "of a log that is over, where no norm says that there are gradients; for "
    "information where it follows rewards. So is a model that still guesses "
    "then: a language model's loss of 10.37 (or what the run says that "
    "guessing costs) and of 97 % of the first losses; or one that began near "
    "what guessing costs among as many classes as the last layer has outputs, "
    "or well-known data have, and is there; or one that no batch moves by 0.1 "
    "%, at what guessing costs among a power of two samples. A warning, too, "
    "of any that is 0.01 or more and the same to the last digit in 50 records "
    "since the start (12 of a log that is over), or later, where it moved by "
    "far more than its last digit, and no row of records alike was a quarter "
    "as long: every batch has a loss of its own. So is a loss at what "
    "guessing costs, however it began, where the accuracies that a log prints "
    "are those of guessing, for 64 records (10 epochs, or 16 where no batch "
    "moves it by 0.1 %, or five evaluations show none above 1.3 times that of "
    "guessing among 10, 100 or 1,000, and the loss is up to 0.2 above its "
    "cost) at its end; or where the means of its middle third and its last are "
    "that cost to 0.02 %, in 16 records and more. So is one beside which all "
    "scores of a log "
    "(F-measures, error rates) were the worst that they can be, in 16 lines "
    "(8 where it fell by less than 2 %), or five losses of evaluations and "
    "more were all the same to the last digit, or whose means of norms are "
    "not finite in 16 records in a row and half of all, and whose last third "
    "is less than 5 % below the one before. So are 16 first records with a "
    "loss and a norm of exactly 0 beside a learning rate, or, of a policy "
    "whose scores are the lowest it had, 48 later ones, four times as many as "
    "in any row of them before. A loss that begins from a checkpoint, or a "
    "diffusion model's, may stand.",
    "The loss falls by a share of `min_share`, or leaves what guessing costs, "
    "for 256 records; one that stands still moves. One that learned a fifth "
    "until then was no trouble.",
    kThresholds,
    "\"Less than x % in so many steps\" describes every long run. So the rule "
    "asks once, from the start, and of means: what a third of the losses is in "
    "the mean tells a fall that single ones hide. Labels that are shuffled, or "
    "an optimizer of other weights, leave a loss where nobody knows it for "
    "guessing. A model that only guesses is a warning: the rate is too high "
    "for it, or its updates do not reach the weights. Where loss_spike keeps "
    "no level, it is silent, too, but of a loss that stopped at its last "
    "digit."};

}  // namespace nanwatch
