// Json, declared: for headers that name it. json/value.h defines it.

#ifndef NANWATCH_JSON_VALUE_FWD_H_
#define NANWATCH_JSON_VALUE_FWD_H_

#include <nlohmann/json_fwd.hpp>

namespace nanwatch {

// Keys stay in the order in which they were written.
using Json = nlohmann::ordered_json;

}  // namespace nanwatch

#endif  // NANWATCH_JSON_VALUE_FWD_H_
