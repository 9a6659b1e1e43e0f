#include "cli/announced.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

// A session is a line; each rank has one, and one more where it reconnects.
constexpr size_t kBytesMost = 1 << 20;
constexpr size_t kRunsMost = 16;

}  // namespace

Announced::Announced() {
  std::string folder = ProcessEnvironment()("TMPDIR");
  if (folder.empty()) folder = "/tmp";
  folder += "/nanwatch-run-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return;
  folder_ = folder;
  const std::string path = folder_ + "/runs";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  close(file);
  path_ = path;
}

Announced::~Announced() {
  if (!path_.empty()) unlink(path_.c_str());
  if (!folder_.empty()) rmdir(folder_.c_str());
}

bool Announced::any() const { return !path_.empty() && FileBytes(path_) > 0; }

std::vector<std::string> Announced::runs() const {
  std::vector<std::string> found;
  if (path_.empty()) return found;
  const std::string text = ReadHead(path_, kBytesMost);
  std::string_view rest = text;
  while (!rest.empty() && found.size() < kRunsMost) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // being written
    const std::string id(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (id.empty()) continue;
    if (std::find(found.begin(), found.end(), id) == found.end()) {
      found.push_back(id);
    }
  }
  return found;
}

}  // namespace nanwatch
