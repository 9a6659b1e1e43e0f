// How many files this process may have open, and who may have how many: where
// none may be opened any more, a thread that accepts would spin.

#ifndef NANWATCH_BASE_OPEN_FILES_H_
#define NANWATCH_BASE_OPEN_FILES_H_

#include <cstddef>

namespace nanwatch {

// Raises the limit to `wanted` as far as the system lets us. Where shells and
// service managers set 1,024, connections would end there.
void AllowOpenFiles(size_t wanted);
// Returns the limit.
size_t OpenFilesMost();
// Returns how many of them HTTP may have, of the `wanted` for whom it has
// threads: a third at most.
size_t OpenFilesOfHttp(size_t wanted);
// Returns the number that a file of a stream may have at most: beyond are those
// of HTTP and some that the daemon opens itself.
size_t OpenFilesOfStreams();

}  // namespace nanwatch

#endif  // NANWATCH_BASE_OPEN_FILES_H_
