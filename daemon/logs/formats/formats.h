// Every log format there is, a file each.

#ifndef NANWATCH_LOGS_FORMATS_FORMATS_H_
#define NANWATCH_LOGS_FORMATS_FORMATS_H_

#include "logs/format.h"

namespace nanwatch {

extern const LogFormat kMegatron;
extern const LogFormat kEventTable;

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FORMATS_FORMATS_H_
