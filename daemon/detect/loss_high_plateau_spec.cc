// What loss_high_plateau says of itself.

#include "detect/loss_high_plateau.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"lost_share", 0.5, 0.1, 1, "ratio",
     "ours; llm-foundry waits for all of it, but a diverged language model "
     "often ends at the loss of single words, below its first one"},
    {"hold", 64, 16, 100000, "records",
     "ours: tr1-13B's spike lost it briefly"},
    {"critical_hold", 256, 16, 100000, "records", "ours"},
    {"guessing", 10.37, 0.1, 100, "nats",
     "ln 32000, of Llama; ln 50257 = 10.8 of GPT-2; llm-foundry: 10"},
    {"guessing_steps", 5, 1, 100000, "steps", "llm-foundry: patience 4"},
    {"clear_after", 64, 1, 100000, "records", "ours"},
    {"risen", 1.75, 1.1, 1000, "ratio",
     "ours; harder data raised a language model's by 1.65"},
    {"blown", 2, 1.1, 1000, "ratio",
     "ours, of the first level; that of a critic whose rewards grow doubles"},
    {"critical_steps", 500, 1, 1e9, "steps",
     "tr1-13B recovered within 500 steps"},
};

}  // namespace

constinit const RuleSpec LossHighPlateau::kSpec = {
    RuleId::kLossHighPlateau,
    "loss_high_plateau",
    Family::kLoss,
    "The loss has lost what the training had learned, and stays there.",
    "For hold records the loss is so high that lost_share of what was learned "
    "since the first records is lost, or it is risen times the best and a "
    "fifth is lost (of a loss that learned half of its first level), or blown "
    "times the first level where a quarter of that was learned (else twice "
    "blown, a warning); critical for critical_hold records over "
    "critical_steps steps. A warning, too, at 1.2 times the best, where 18 % "
    "is lost of what was learned (of a loss that learned a quarter of its "
    "first level), unless it came down within the hold: a stage of a "
    "curriculum is learned from its first record on. Where a weight or a "
    "length of the objective moved that the log prints, the best level begins "
    "anew. A warning when a language model that was better is worse than "
    "guessing (the logarithm of its vocabulary, else guessing) for "
    "guessing_steps steps; critical after half of critical_steps, of 5 "
    "records that do not come down, or where it is not back at its level when "
    "the log ends. So is a fresh classifier's loss of 1.5 times that (of as "
    "many classes as its last layer has outputs), critical for 14 records. "
    "Right after a restart that goes on with the steps: after 16 records, "
    "critical for hold; or a warning at risen times the level before it. The "
    "negative of an objective that fell through 0 is lost at 85 % of its way "
    "back to the size that it had before. A warning, too, where the swings of "
    "one about 0 are ten times as wide as in the first third of the run, "
    "above 1, and still grow. At the end of a log critical for 32 records "
    "that do not come down, where it is risen times the best or 85 % of what "
    "was learned is lost; a warning where that is lost in 8 to 63 records. A "
    "warning, too, where a cross-entropy crept up, without a jump, for 128 "
    "records and a third of the run, and stands 1.09 times above its best; "
    "or, at the end of a log, a loss of any kind that learned a quarter of "
    "its first level, and stands so far above its best for a quarter of the "
    "run and 128 records (64, where that is four times its noise: then half "
    "of what was learned does, too); for information where it jumped.",
    "Lower for clear_after records. A level that stays is not taken for "
    "healthy, however long.",
    kThresholds,
    "llm-foundry's limit (the first window, or 10) misses a language model "
    "that ends at the loss of single words, and accuses critics and "
    "generators. Here the limit is a share of what was learned, for runs that "
    "learned much more than their noise. For language models there is the loss "
    "of guessing, which needs no history: a warning at first, since spikes go "
    "there for a line and come back. A restart that goes on with the steps "
    "(from half of the newest on) goes on with the levels "
    "of the attempt before, so a checkpoint that was not loaded is found after "
    "16 records. Where loss_spike keeps no level, it is silent, too."};

}  // namespace nanwatch
