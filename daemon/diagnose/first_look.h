// What people look at first when a rule fires.

#ifndef NANWATCH_DIAGNOSE_FIRST_LOOK_H_
#define NANWATCH_DIAGNOSE_FIRST_LOOK_H_

#include <string_view>

#include "model/rule_id.h"

namespace nanwatch {

// Of an evaluation's loss: no cause is known, and this is the advice, too.
inline constexpr std::string_view kLookAtEvaluation =
    "Run that evaluation once more on its own: look for an empty set, a "
    "division by 0 and inputs that no batch of training had. Pick no "
    "checkpoint by that loss.";

// Of a term of the loss, and of a layer, that a log shows: the same.
inline constexpr std::string_view kLookAtTerm =
    "Compute that term alone for the batch of the named step: usual reasons "
    "are a log or sqrt of a value <= 0, a mean over no element and a target "
    "that is not finite. Do not hide it behind nan_to_num or a mask.";
inline constexpr std::string_view kLookAtLayer =
    "If the layer is not frozen on purpose, look for what cuts it off: a "
    "detach, a branch that is not taken, a factor of 0 and units whose "
    "activation is 0 whatever comes (dead ReLUs).";

// Of a score, or an evaluation's loss that blew up: the same.
inline constexpr std::string_view kLookAtScore =
    "Go back to the checkpoint of the best score. Of a policy, look at its "
    "entropy and its distance from the old one before the fall: a lower "
    "learning rate, a smaller clip or target for it.";
inline constexpr std::string_view kLookAtBlown =
    "Go back to the checkpoint of the lowest. See whether the evaluation's "
    "weights are those of the training (averages, statistics of batch "
    "normalization), and whether it has learned by heart.";
inline constexpr std::string_view kLookAtLatents =
    "The decoder does without the latents: let the weight of the KL term grow "
    "from 0, lower it, or leave each latent some nats that cost nothing (free "
    "bits). A decoder that is weaker needs them.";

// Of two losses against each other, and of gradients that went: the same.
inline constexpr std::string_view kLookAtRival =
    "Weaken the one that wins: a lower learning rate or fewer updates of it, "
    "noise or smoothing on its labels, a penalty on its gradient. Go back to "
    "a checkpoint from before.";
inline constexpr std::string_view kLookAtGradients =
    "See whether the loss has simply converged. If not, find what cuts the "
    "gradients off. Exactly 0: a detach() or no_grad(), frozen parameters, "
    "zero_grad() between backward() and step(), a mask that hides all targets. "
    "Nearly 0: saturated or dead units after too high a learning rate, too "
    "many layers without normalisation, a loss scale near 0.";

// Of a note of a loss or a norm that left its level: the same.
inline constexpr std::string_view kLookLater =
    "Nothing yet: most such rises end by themselves. If the evaluation gets "
    "worse, or the next few hundred steps do not bring it down, {back}, with a "
    "lower learning rate or past that data.";

// Of a rank that has left the others: the same.
inline constexpr std::string_view kLookAtData =
    "Save with each checkpoint where the data stand (a stateful data loader, "
    "the sampler's epoch and position) and load it at a restart; or skip the "
    "batches that were trained on. Then restart: the weights are sound.";
inline constexpr std::string_view kLookAtZeroLoss =
    "Look at the batch of the named step. Where all its targets are masked or "
    "left out, nothing enters the loss. Else find what writes 0 in place of a "
    "NaN (nan_to_num, a filter of the log), and resume from a checkpoint "
    "before that step.";
inline constexpr std::string_view kLookAtZeroNorm =
    "Switch the norm's collection on, or print more digits; until then rules "
    "on gradients see nothing. If it is measured, no gradient reaches it: see "
    "whether the loss hangs on the weights.";
inline constexpr std::string_view kLookAtSkips =
    "Print the norm and the loss scale of each update. Where it is infinite at "
    "every scale, or NaN, look for the op whose gradient is so; else lower the "
    "scale, or train in bf16, which needs none.";
inline constexpr std::string_view kLookAtNumber =
    "Find out which weights are not finite (count them parameter by "
    "parameter), or whether the norm is computed in fp16, where it overflows "
    "above 65504. Checkpoints after that step may hold such weights.";
inline constexpr std::string_view kLookAtRank =
    "Give the rank another one's batch: if its numbers come back, look at its "
    "data (a shard, an order, a broken file). If they stay, compare its "
    "weights with another's (a replica's digest, a checksum), and look at its "
    "device.";

// Returns sentences; empty: there is no such rule.
std::string_view FirstLook(RuleId rule);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FIRST_LOOK_H_
