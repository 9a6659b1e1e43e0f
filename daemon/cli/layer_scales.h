// Which loss scales suit the layers of a run: a table, and as YAML.

#ifndef NANWATCH_CLI_LAYER_SCALES_H_
#define NANWATCH_CLI_LAYER_SCALES_H_

#include <string>
#include <string_view>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// A line a layer, then the advice; empty: nothing is known.
std::string LayerScalesTable(const v1::GetLayersResponse& layers,
                             const Style& style);
// A scale a layer, that suits it; comments say what is not known. For a
// program: "scales" maps names to numbers.
std::string LayerScalesYaml(const v1::GetLayersResponse& layers,
                            std::string_view run);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_LAYER_SCALES_H_
