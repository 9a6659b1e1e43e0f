// what any program says when it goes on from a checkpoint: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"from a file", "Resuming training from run/last.ckpt", "resumed"},
    {"at a step", "=> resumed at step 640", "resumed"},
    {"of weights", "Loaded checkpoint resnet50.pth", "trained"},
    {"an option is none", "resume=False auto_resume: null", ""},
};

}  // namespace

const SampleTable kResumedWordsSamples = {"resumed_words", kLines};

}  // namespace nanwatch
