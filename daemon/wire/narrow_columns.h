// Columns of steps whose numbers are all numbers of fp32, as most of a training
// are: a history keeps four bytes of each instead of eight.

#ifndef NANWATCH_WIRE_NARROW_COLUMNS_H_
#define NANWATCH_WIRE_NARROW_COLUMNS_H_

#include "nanwatch/v1/history.pb.h"
#include "wire/complaint.h"

namespace nanwatch {

// Takes such columns out of the event's steps and puts them beside, bit for
// bit.
void NarrowColumns(v1::StoredEvent* event);

// Puts them back.
Verdict WidenColumns(v1::StoredEvent* event);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_NARROW_COLUMNS_H_
