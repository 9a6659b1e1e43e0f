// The page at /: what runs there are and where to look further.

#ifndef NANWATCH_WEB_LANDING_H_
#define NANWATCH_WEB_LANDING_H_

#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace nanwatch {

// HTML; everything that comes from a client is escaped. At most 200 runs, the
// worst first.
std::string LandingPage(const Snapshot& snapshot, std::string_view version,
                        std::string_view not_ready);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_LANDING_H_
