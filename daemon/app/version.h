// The version, as programs print it and tell it to each other.

#ifndef NANWATCH_APP_VERSION_H_
#define NANWATCH_APP_VERSION_H_

#include <string>
#include <string_view>

namespace nanwatch {

std::string_view DaemonVersion();  // "nanwatchd/0.1.0"

// The commit that the programs were built from, "+changes" behind it where
// files differed from it; empty: not known.
std::string_view Revision();

// Returns what `--version` prints: "nanwatch/0.1.0, revision 3f2a91c04b7d".
std::string VersionLine(std::string_view program);

}  // namespace nanwatch

#endif  // NANWATCH_APP_VERSION_H_
