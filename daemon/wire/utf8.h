// Where in a message a string is not UTF-8, for the sentence that says so.
// (Protobuf checks all strings as it reads; it does not say which one.)

#ifndef NANWATCH_WIRE_UTF8_H_
#define NANWATCH_WIRE_UTF8_H_

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace nanwatch {

bool IsUtf8(std::string_view text);

// Path of the first such string, e.g. "open.run.job"; empty: all are UTF-8.
std::string FindTextThatIsNotUtf8(const google::protobuf::Message& message);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_UTF8_H_
