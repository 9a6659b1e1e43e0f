// Folders in which the daemon keeps what is not for others.

#ifndef NANWATCH_BASE_FOLDER_H_
#define NANWATCH_BASE_FOLDER_H_

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace nanwatch {

// Makes what is missing of `path`, with 0700; the folder itself, if it is made,
// with `mode`, whatever the umask. An error: it cannot be made, or a part of it
// lies where anybody may make one (/tmp) and was made by another user, who
// could read and replace what lies in it.
Status MakeFolder(const std::string& path, mode_t mode);

}  // namespace nanwatch

#endif  // NANWATCH_BASE_FOLDER_H_
