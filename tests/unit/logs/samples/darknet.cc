// darknet: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a batch",
     "Region 82 Avg IOU: 0.25, Class: 0.5, Obj: 0.125, No Obj: 0.4, .5R: 0.0, "
     ".75R: 0.0,  count: 3\n"
     "12: 734.8125, 745.125 avg, 0.0001 rate, 3.512345 seconds, 768 images",
     "step=12 loss=734.8125 learning_rate=0.0001"},
    {"with the time that is left",
     " 13: 720.5, 742.75 avg loss, 0.0001 rate, 3.5 seconds, 832 images, 5.21 "
     "hours left",
     "step=13 loss=720.5 learning_rate=0.0001"},
    {"means over no object",
     "Region 94 Avg IOU: -nan, Class: -nan, Obj: -nan, No Obj: 0.4, .5R: "
     "-nan, .75R: -nan,  count: 0",
     ""},
    {"not finite", "900: nan, nan avg, 0.001 rate, 3.5 seconds, 57600 images",
     "step=900 loss=nan learning_rate=0.001"},
};

}  // namespace

const SampleTable kDarknetSamples = {"darknet", kLines};

}  // namespace nanwatch
