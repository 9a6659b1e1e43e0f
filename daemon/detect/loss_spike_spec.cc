// What loss_spike says of itself.

#include "detect/loss_spike.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"warning_nats", 13.8, 3, 1000, "nats",
     "a false alarm in a million excursions"},
    {"critical_nats", 20.7, 3, 1000, "nats", "one in a billion"},
    {"end_nats", 9.2, 1, 1000, "nats", "one in 10,000; the end is one look"},
    {"warning_ratio", 1.5, 1.05, 1000, "ratio",
     "ours: other data and a curriculum's next stage move it by less"},
    {"hold", 3, 1, 1000, "records", "ours: single batches are noisy"},
    {"critical_hold", 30, 1, 100000, "records", "BLOOM recovered in about 30"},
    {"critical_steps", 500, 1, 1e9, "steps",
     "tr1-13B recovered within 500 steps"},
    {"lost_hold", 24, 2, 100000, "records",
     "ours: a loss above all before that does not come down for so long"},
    {"explosion_ratio", 10, 2, 1e9, "ratio", "Megatron: 10 x max of 100"},
    {"clear_ratio", 1.2, 1, 1000, "ratio", "ours"},
    {"clear_after", 20, 1, 100000, "records", "ours"},
    {"falls", 7, 2, 1000, "overflows", "apex#493: from 256 to 2 in an epoch"},
    {"falls_ratio", 3, 1.1, 1000, "ratio", "apex#493: loss 0.148 to 0.712"},
};

}  // namespace

constinit const RuleSpec LossSpike::kSpec = {
    RuleId::kLossSpike,
    "loss_spike",
    Family::kLoss,
    "The loss left its level, and that is no noise.",
    "The loss stands above its level with `warning_nats` of evidence, for "
    "`hold` records in a row, at `warning_ratio` times the level, or two nats "
    "above that of a language model. Evidence is the logarithm of how much "
    "likelier the losses are if they stay there than if they are noise about "
    "the level, outliers included. For information where the ratio is smaller, "
    "and for 16 records among the first 32 of a fresh run where it is below "
    "2.3. Where a record is the mean over ten steps and more, two records are "
    "enough; over a hundred, one. A loss of 1.3 times the level is a warning "
    "beside a gradient norm that warns. Critical with critical_nats of "
    "evidence, where the loss shows no way back: for critical_hold records "
    "over critical_steps steps; above all healthy losses for lost_hold records "
    "over half of those steps, or for 56 records, or at explosion_ratio times "
    "the level; in the first 64 losses of a fresh run, at 1.5 times the first "
    "losses for 12 records. Critical at once for two losses in a row at "
    "explosion_ratio times the highest healthy one (of fewer than 32 losses, "
    "ten times that; 3 times where updates that overflowed are applied), and "
    "at falls_ratio times the lowest loss for `hold` records after `falls` "
    "overflows without a growth of the scale. At the end of the records, "
    "end_nats are a warning and critical_nats for 8 records are critical; and "
    "one of 24 losses at most that is ten times explosion_ratio times the "
    "highest healthy one, if that is 0.1 or more, is a warning: no noise has "
    "such moves. Critical, too, with end_nats for two records that begin where "
    "the first losses stood, right after the program went on from a "
    "checkpoint, or was started again after it broke off. For information "
    "where a weight or a length of the objective moves that the log prints or "
    "the client sees, and the rise is below twentyfold, or where the loss is "
    "an evaluation's. Nothing is said while the rate is probed: it grows by "
    "the same share with each of 24 records. A loss that crosses 0 must double "
    "the highest healthy one. The third record that is 1,000 times all healthy "
    "ones, above 100, and alone, is a warning. In a run that goes on what "
    "leaves the first record alone by less than thirtyfold, and climbs no "
    "further, is a warning at most. One that began between 0.01 and 0.1 in "
    "much noise is a warning at most, where it kept a level for 32 records; "
    "else it grows with rewards. A learning rate that goes back up to where it "
    "was begins a new level.",
    "Below clear_ratio times the level for clear_after records; a warning also "
    "where the records end at that level. A rise to 1.5 times the first losses "
    "among the first 16 is over where a tenth of the first losses is learned, "
    "or from 200 records on, where it rose 2.3 times, a third; else it is a "
    "warning then.",
    kThresholds,
    "Rules of other programs ask for a ratio or a z-score of a window, and "
    "need the window first. Here noise has a prior, so the second record is "
    "judged; where the first ten of a fresh run were healthy, of 0.1 and more, "
    "it is twice what those before showed at most, until forty are known. One "
    "outlier is never much evidence, and three that agree are: healthy noise "
    "has heavy tails, and the share of outliers is learned. The chance of a "
    "false alarm is a threshold. The size of the rise decides whether it "
    "matters: other data and a stage of a curriculum move a loss by less than "
    "1.5. A net that has learned all there is wanders up from next to nothing: "
    "below a twentieth of the first losses a rise is for information. Rises at "
    "equal distances, none of them twice as long as the one before or the last "
    "of a row that grew to 1.5 times, are done by a clock (opacities that are "
    "reset, an annealing that begins anew): from the third on a known cause "
    "makes them a note. Where the optimizers of a rank have losses of their "
    "own (a GAN, an actor and its critic), or the loss follows rewards, health "
    "keeps no level, and the rule is silent: of 54 healthy GANs 24 had a "
    "warning and 4 a critical before, of 25 healthy trainings on rewards 15. "
    "Of rewards a critical is left for a loss 20 times its level, and ten "
    "times all before, for `hold` records; of rivals for one that leaps so, "
    "above 20, after 64 losses; of both for one of 1,000 and more that is ten "
    "thousand times all before."};

}  // namespace nanwatch
