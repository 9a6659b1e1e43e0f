// DumpFiles: the files of another tool's dump, found in its folder.

#ifndef NANWATCH_CLI_DUMP_FILES_H_
#define NANWATCH_CLI_DUMP_FILES_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dumps/dump_place.h"

namespace nanwatch {

// As many as there may be tensors in a dump, and as deep as any tool nests
// them. Beyond: refused.
inline constexpr size_t kDumpFiles = 1 << 20;
inline constexpr int kDumpFolderDepth = 16;

struct DumpFile {
  std::string path;
  std::string inside;  // the same from the dump's folder on
  DumpPlace place;
};

struct DumpFiles {
  std::string root;
  std::vector<DumpFile> msprobe;  // dump.json
  std::vector<DumpFile> npy;
  std::vector<DumpFile> paddle;    // worker_DEVICE
  std::vector<DumpFile> inspect;   // of NVIDIA's dlfw-inspect
  std::vector<DumpFile> op_debug;  // of CANN's overflow check
};

// Gives each line of a file, at most kLogLineMax of it. The error names the
// file.
Status FeedLines(const std::string& path,
                 const std::function<void(std::string_view)>& take);
// Returns whether `path` is a folder or a file of a dump.
bool IsDump(const std::string& path);
// The error names the path and says what to do.
Result<DumpFiles> FindDumpFiles(const std::string& path);
// Gives the bytes of a file to `feed` until that has an error. The error names
// the file.
Status FeedFile(const std::string& path,
                const std::function<Status(std::string_view)>& feed);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_DUMP_FILES_H_
