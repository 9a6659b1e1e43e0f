// Ultralytics YOLO (an epoch a line): sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a bar's end is the epoch",
     "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       "
     "Size\n"
     "      1/100      2.51G       1.25        2.5       1.25         50       "
     " "
     "640:  50%|#####     | 6/12 [00:03<00:00,  3.41it/s]\n"
     "      1/100      2.51G       1.25        2.5       1.25         50       "
     " "
     "640: 100%|##########| 12/12 [00:03<00:00,  3.41it/s]\n"
     "      2/100      2.51G        nan        2.5       1.25         50       "
     " "
     "640: 100%|##########| 12/12 [00:03<00:00,  3.41it/s]\n"
     "                 Class     Images  Instances      Box(P          R: 100%"
     "|##########| 4/4 [00:00<00:00]",
     "step=1 loss=5\nstep=2 loss=nan"},
};

}  // namespace

const SampleTable kUltralyticsSamples = {"ultralytics", kLines};

}  // namespace nanwatch
