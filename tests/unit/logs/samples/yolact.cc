// YOLACT: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"the sum of its losses",
     "[  0]      50 || B: 1.875 | C: 2.5 | M: 1.25 | S: 0.625 | T: 6.250 || "
     "ETA: 3 days, 4:11:12 || timer: 0.512\n"
     "[ 12]  118800 || B: nan | C: 2.5 | M: 1.25 | S: 0.625 | T: nan || ETA: "
     "4:11:12 || timer: 0.512",
     "step=50 loss=6.25\nstep=118800 loss=nan"},
    {"torn",
     "[  0]      60 || B: 1.875 | C: 2.5 | M: 1.25 | S: 0.625 | T: 6.2\n"
     "[  0]      70 || B: 1.875 | C: 2 || ETA: 4:11:12 || timer: 0.512",
     ""},
};

}  // namespace

const SampleTable kYolactSamples = {"yolact", kLines};

}  // namespace nanwatch
