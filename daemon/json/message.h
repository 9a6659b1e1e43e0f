// --json of runs, show and diagnose: the messages of query.proto as JSON.

#ifndef NANWATCH_JSON_MESSAGE_H_
#define NANWATCH_JSON_MESSAGE_H_

#include <google/protobuf/message.h>

#include <string>

namespace nanwatch {

// Writes proto3's JSON mapping with the names of query.proto: NaN and
// infinities are strings, so are 64-bit integers, and a number that is 0 stands
// there. A key that is missing: not collected, or not so (a rank where the
// whole run is meant, a time that has not come). Ids of incidents are 16
// hexadecimal digits, as --incident takes them. `message`: ListRunsResponse or
// RunDetail.
std::string RunJson(const google::protobuf::Message& message);

}  // namespace nanwatch

#endif  // NANWATCH_JSON_MESSAGE_H_
