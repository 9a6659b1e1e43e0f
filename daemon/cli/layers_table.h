// What is known of the gradient of each parameter.

#ifndef NANWATCH_CLI_LAYERS_TABLE_H_
#define NANWATCH_CLI_LAYERS_TABLE_H_

#include <cstdint>
#include <string>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// A line a parameter, in the order of the forward pass; empty: nothing was
// told.
std::string LayersTable(const v1::GetLayersResponse& layers,
                        const Style& style);
// Of those that are not finite or all 0, and of the largest and the smallest,
// as they were told since the step `since`: at most `most` lines below a title;
// 0: empty. `scale`: the loss scale, 1 where there is none.
std::string LayersBrief(const v1::GetLayersResponse& layers, int64_t since,
                        double scale, int most, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_LAYERS_TABLE_H_
