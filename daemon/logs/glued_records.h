// Records that a program wrote without ends of lines:
//
//  epoch: 1/9, loss: 2.5, acc: 0.3epoch: 2/9, loss: 2.25, acc: 0.4

#ifndef NANWATCH_LOGS_GLUED_RECORDS_H_
#define NANWATCH_LOGS_GLUED_RECORDS_H_

#include <cstddef>
#include <string_view>

namespace nanwatch {

// Returns where the first record of such a line ends; npos: it has one at most.
size_t EndOfGluedRecord(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_GLUED_RECORDS_H_
