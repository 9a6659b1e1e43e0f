// What loss_spike says of itself.

#include "detect/loss_spike.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"z", 8, 2, 1000, "z", "BLOOM 31219 against healthy steps"},
    {"ratio", 2, 1.05, 1000, "ratio", "metaseq, llm-foundry"},
    {"hold", 3, 1, 1000, "records", "ours: single batches are noisy"},
    {"critical_hold", 30, 1, 100000, "records", "BLOOM recovered in about 30"},
    {"explosion_ratio", 10, 2, 1e9, "ratio", "Megatron: 10 x max of 100"},
    {"clear_ratio", 1.2, 1, 1000, "ratio", "ours"},
    {"clear_after", 20, 1, 100000, "records", "ours"},
    {"critical_ratio", 1.5, 1, 1000, "ratio",
     "ours: another mix of data moves the level by less"},
    {"warning_ratio", 1.5, 1, 1000, "ratio",
     "ours: a curriculum's next stage moves it by less"},
    {"small_hold", 100, 2, 100000, "records",
     "ours: half of a curriculum's jump is gone by then"},
    {"critical_steps", 500, 1, 1e9, "steps",
     "tr1-13B recovered within 500 steps"},
    {"lost_hold", 24, 2, 100000, "records",
     "ours: a loss above all before that does not come down for so long"},
    {"falls", 7, 2, 1000, "overflows", "apex#493: from 256 to 2 in an epoch"},
    {"falls_ratio", 3, 1.1, 1000, "ratio", "apex#493: loss 0.148 to 0.712"},
};

}  // namespace

constinit const RuleSpec LossSpike::kSpec = {
    RuleId::kLossSpike,
    "loss_spike",
    Family::kLoss,
    "The loss is far above its recent level.",
    "hold records in a row are z robust deviations above the level of the last "
    "128, or ratio times it and 3/4 as many (more in a row where single losses "
    "often stand out). With fewer than 64 losses before, or while they fall "
    "below half of that level: ratio times all of "
    "them, within 5 % of one another; or 5 deviations and 1.85 times the "
    "lowest level of five, for up to 3 records more (14 for less than 2.3 "
    "times it in the first 32 of a training). One of 1.3 times the "
    "level is a warning beside one of gnorm_spike or gnorm_explosion. "
    "Where records are means over "
    "ten steps and more, two are enough for three; over a hundred, one. For "
    "information until "
    "hold in a row are warning_ratio times the level, or one was three times "
    "it, or it climbs further, or "
    "the second half of small_hold records is no lower. Critical when it does "
    "not come down, is in the upper half of the jump and critical_ratio times "
    "the level for critical_hold records over critical_steps steps; or above "
    "all that was healthy for lost_hold records over half of those steps (for "
    "56 records where the losses begin with the training; with fewer than 64 "
    "losses before, two thirds of lost_hold, over a fifth of those steps where "
    "they do not begin with it; or a language model's that went on from a "
    "checkpoint is ratio times its first three, within 5 % of one another, for "
    "lost_hold records over those); or falls_ratio times the lowest for hold "
    "records after `falls` overflows without a growth of the scale; or "
    "when two in a row are explosion_ratio times the largest healthy loss "
    "(with fewer than 32, ten times that), or first 3 times it and then so "
    "with "
    "an overflow before each (3 times is enough where overflows are applied, "
    "and there one that is explosion_ratio times it is a warning). At the end "
    "of a log critical where it is critical_ratio times the level and does not "
    "come down: for 16 records of a language model's, or of a loss that had "
    "halved, for 8 where all before are within 5 % of one another, else for "
    "critical_hold; also where so many of the last losses are above "
    "all of the 24 before them (16 at least, or 8 steady ones, or 3 where "
    "there are no others), at 1.7 times "
    "their median (or 4, of a table that begins with 3 to 12 steady ones). A "
    "warning there where they are 4, "
    "or where means of a language model's that went on from a checkpoint climb "
    "by a quarter and by a nat. The level of just before (the lower median of "
    "the newest 16 losses and of 16 about 30 ago) tells what a baseline that "
    "holds a descent does not: a loss above 1.25 times it and 3 deviations, at "
    "once and for as many records, without a way back, is critical there at "
    "1.7 times it (at 1.45, where a language model lost 2 nats, or half of "
    "what "
    "was learned is lost), a warning at 1.44 times; a language model's is "
    "critical so after critical_hold records over critical_steps steps; and a "
    "spike of 1.3 times and 8 deviations that is back within 64 records is a "
    "warning, if that level moves by less than 5 %. Levels begin anew where "
    "the "
    "learning rate goes back up, to three times its recent one and where it "
    "was. A degree less where the level was below 1e-4, and 1e-4 of the "
    "largest, and it rose to less than 0.05, and a twentieth of the largest: "
    "such a net has learned all there is.",
    "Below clear_ratio times the level, or 3 deviations above it, for "
    "clear_after records; a warning also where the log ends at that level.",
    kThresholds,
    "It warns from three steady losses on, or from the first few that show "
    "a level. It is critical only at 1.5 times the level, since another mix "
    "of data moves it by less, and only where the loss does not come down "
    "for 500 steps or stays above all that ever was healthy (sooner, since "
    "all is lost then). Below 1.5 times it is for information: a "
    "curriculum's next stage does that. The last printed digit is no noise, "
    "and where noise is a large part of the level the logarithm decides. "
    "Where single losses often stand out (a mixture of tasks), as many in a "
    "row are asked for as chance makes once in a million records; losses "
    "that wander through 0 need half as much again. Records count and not "
    "steps, but for means over ten steps and more: two of those are no "
    "single batch. A language model that goes on from a checkpoint has a "
    "level from three losses on, since it doubles in no healthy run. At the "
    "end of a log its last 40 losses are also held against one another: a "
    "baseline of few records has not forgotten how the loss fell. The "
    "baseline of 128 is as wide as the descent that it holds: in a log of "
    "200 lines a loss that rose by 1.7 and stayed was no outlier. So a loss "
    "is also held against its level of just before, a median of 16 losses, "
    "with the noise of their moves, which a descent does not widen. A loss "
    "that leaves that level at once and shows no way back is critical at "
    "the end of the log at 1.7 times it (at less where 2 nats or half of "
    "what was learned are lost). It is a warning at 1.44 times, since other "
    "data move it by 1.4. A spike that is back within 64 records is a "
    "warning. A loss that wanders up from next to nothing (a level below "
    "1e-4, and 1e-4 of the largest, to 0.05 at most) is a degree less. A "
    "learning rate that goes back up to where it was begins a new level. "
    "Where the optimizers of a rank have losses of their own (a GAN, an "
    "actor and its critic), the rule says no more than information: of 54 "
    "healthy GANs 24 had a warning and 4 a critical before."};

}  // namespace nanwatch
