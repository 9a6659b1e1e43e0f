// what any program says when its loss becomes another one: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a term", "-- enabling perceptual loss (weight 1.0) --",
     "other objective"},
    {"a part of the model", "[INFO] Unfreezing the backbone",
     "other objective"},
    {"a loss by another name",
     "2026-02-20 11:39:13 INFO: Changing loss based on Stage Two Weights",
     "other objective"},
    {"what is said of each epoch",
     "Unfreezing 1 layer\nUnfreezing 2 layers\nUnfreezing 3 layers\n"
     "Unfreezing 4 layers\nUnfreezing 5 layers\nUnfreezing 6 layers",
     "other objective\nother objective\nother objective\nother objective"},
    {"a stage in words",
     "INFO: stage 2/3: all layers\nBegin third stage\nPhase 1 is done.\n"
     "Moving on to phase two",
     "other objective\nother objective\nother objective"},
    {"the same stage again",
     "==> stage 2: masks\n==> stage 2: masks\nwarm-up of stage 2",
     "other objective"},
    {"a stage",
     "===== Stage 2 =====\nEntering phase 3: long sequences\n"
     "=== task 2: labels permuted ===",
     "other objective\nother objective\nother objective"},
    {"a fold",
     "--- fold 1 of 3 ---\nFold 1 ended, threshold 3\n===== Fold 2/3 =====\n"
     "begin evaluation on fold 3\nstarting unfold 4",
     "other objective"},
    {"what is counted up",
     "level 1: sequences of 8\nlevel 2: sequences of 16\n"
     ">> difficulty now 0.1\n>> difficulty now 0.2\n"
     "curriculum: max_len=16\ncurriculum: max_len=16\n"
     "curriculum: max_len=32",
     "other objective\nother objective\nother objective"},
    {"none",
     "Enabling dynamic loss scaling\nEnabling gradient checkpointing\n"
     "stage 2 step 10 lr 0.1\n===== Stage 1 =====\n"
     "starting ZeRO stage 3\nenabling peer access\n"
     "Unfroze 12 layers\nAdded EMA loss tracker\nActivated loss guard\n"
     "added 12 samples, loss: 2.31\nstages 2 and 3 emphasize 4 tasks",
     ""},
};

}  // namespace

const SampleTable kObjectiveWordsSamples = {"objective_words", kLines};

}  // namespace nanwatch
