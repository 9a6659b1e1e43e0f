// TensorBoard's event files are not made of lines: logs/tensorboard.h reads
// them. Here they have a name, for --format and for reports.

#include <string_view>

#include "logs/formats/formats.h"

namespace nanwatch {
namespace {

void Read(std::string_view, FactList*) {}

// No line holds it.
constexpr std::string_view kMarks[] = {"\n"};

}  // namespace

const LogFormat kTensorBoard = {
    .name = "tensorboard",
    .title = "TensorBoard's event files (scalars)",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
