// What is known of the gradient of each parameter.

#ifndef NANWATCH_CLI_LAYERS_TABLE_H_
#define NANWATCH_CLI_LAYERS_TABLE_H_

#include <string>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// A line a parameter, in the order of the forward pass; empty: nothing was
// told.
std::string LayersTable(const v1::GetLayersResponse& layers,
                        const Style& style);
// Of the largest and the smallest of them, or of those that are not finite or
// all 0, at most `most` lines below a title; 0: empty. `scale`: the loss scale,
// 1 where there is none.
std::string LayersBrief(const v1::GetLayersResponse& layers, double scale,
                        int most, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_LAYERS_TABLE_H_
