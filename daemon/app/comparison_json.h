// Two compared runs as JSON, for the API and for `compare --json`.

#ifndef NANWATCH_APP_COMPARISON_JSON_H_
#define NANWATCH_APP_COMPARISON_JSON_H_

#include "compare/compared_run.h"
#include "compare/comparison.h"
#include "compare/distance_map.h"
#include "json/value_fwd.h"

namespace nanwatch {

Json ComparisonJson(const ComparedSide& a, const ComparedSide& b,
                    const Comparison& comparison);
// A cell is null (not of both runs), a word of Standing, or that word and the
// decades.
Json DistanceMapJson(const DistanceMap& map);

}  // namespace nanwatch

#endif  // NANWATCH_APP_COMPARISON_JSON_H_
