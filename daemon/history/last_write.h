// When a history was last written to.

#ifndef NANWATCH_HISTORY_LAST_WRITE_H_
#define NANWATCH_HISTORY_LAST_WRITE_H_

#include <string>

#include "base/time.h"

namespace nanwatch {

// Until then the daemon that keeps the history at `path` was alive. Epoch:
// there is none.
Time LastWrite(const std::string& path);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_LAST_WRITE_H_
