// What a message weighs in a queue.

#ifndef NANWATCH_WIRE_MESSAGE_WEIGHT_H_
#define NANWATCH_WIRE_MESSAGE_WEIGHT_H_

#include <cstddef>

#include "model/client_message.h"

namespace nanwatch {

// Returns the bytes that `message` holds, near enough.
size_t WeightOf(const ClientMessage& message);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_MESSAGE_WEIGHT_H_
