#include "cli/dump_files.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "cli/log_input.h"
#include "dumps/npy_header.h"
#include "dumps/op_debug.h"
#include "dumps/paddle_line.h"
#include "logs/line_splitter.h"

namespace nanwatch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMsprobes = "dump.json";
constexpr std::string_view kPaddles = "worker_";
constexpr std::string_view kInspects = "nvdlfw_inspect_globalrank-";

// "worker_gpu.1", "nvdlfw_inspect_globalrank-1.log".
std::optional<int64_t> RankIn(std::string_view name) {
  if (name.starts_with(kPaddles)) {
    return DigitsOf(name.substr(name.rfind('.') + 1));
  }
  name.remove_prefix(kInspects.size());
  return DigitsOf(name.substr(0, name.find('.')));
}

bool IsPaddles(const std::string& path, const std::string& name) {
  // Its first line is one of the checker's, or what else a program prints.
  constexpr size_t kHead = 65536;
  return name.starts_with(kPaddles) &&
         ReadHead(path, kHead).find(kPaddleMark) != std::string::npos;
}

void AddFile(DumpFile file, DumpFiles* files) {
  const std::string& name = file.place.file;
  if (name == kMsprobes) {
    files->msprobe.push_back(std::move(file));
  } else if (name.starts_with(kOpDebugMark)) {
    if (name.ends_with(".json")) files->op_debug.push_back(std::move(file));
  } else if (name.ends_with(".npy")) {
    files->npy.push_back(std::move(file));
  } else if (name.starts_with(kInspects)) {
    file.place.rank = RankIn(name);
    files->inspect.push_back(std::move(file));
  } else if (IsPaddles(file.path, name)) {
    file.place.rank = RankIn(name);
    files->paddle.push_back(std::move(file));
  }
}

// The folder that was named may be that of a step, or of a rank.
DumpPlace PlaceIn(const std::string& root, const std::string& inside) {
  DumpPlace place = PlaceOfDump(inside);
  const fs::path named = fs::absolute(root).lexically_normal();
  const DumpPlace around = PlaceOfDump(
      (named.parent_path().filename() / named.filename() / "").string());
  if (!place.step) place.step = around.step;
  if (!place.rank) place.rank = around.rank;
  return place;
}

Status FindIn(const std::string& root, DumpFiles* files) {
  std::error_code error;
  fs::recursive_directory_iterator at(
      root, fs::directory_options::skip_permission_denied, error);
  size_t found = 0;
  for (; !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    if (++found > kDumpFiles) {
      return Error{fmt::format(
          "{}: more than {} files are in this folder; name one of fewer steps",
          root, kDumpFiles)};
    }
    if (at.depth() == kDumpFolderDepth) at.disable_recursion_pending();
    std::error_code unknown;
    if (!at->is_regular_file(unknown)) continue;
    const std::string inside =
        at->path().lexically_relative(root).generic_string();
    AddFile({at->path().string(), inside, PlaceIn(root, inside)}, files);
  }
  if (error) return Error{fmt::format("{}: {}", root, error.message())};
  return OkStatus();
}

}  // namespace

bool IsDump(const std::string& path) {
  if (IsDirectory(path)) return true;
  const std::string name = fs::path(path).filename().string();
  return name == kMsprobes || name.ends_with(".npy") ||
         name.starts_with(kInspects) || name.starts_with(kOpDebugMark) ||
         IsPaddles(path, name) || ReadHead(path, kNpyMark.size()) == kNpyMark;
}

Result<DumpFiles> FindDumpFiles(const std::string& path) {
  DumpFiles files;
  files.root = path;
  if (IsDirectory(path)) {
    const Status found = FindIn(path, &files);
    if (!found.ok()) return Error{found.error()};
  } else if (ReadHead(path, kNpyMark.size()) != kNpyMark &&
             !path.ends_with(".npy")) {
    const std::string name = fs::path(path).filename().string();
    AddFile({path, name, PlaceIn(ParentDirectory(path), name)}, &files);
  } else {
    // Two files that are named have one name: that of their only tensor.
    AddFile({path, "tensor.npy", PlaceOfDump("tensor.npy")}, &files);
  }
  bool empty = true;
  for (std::vector<DumpFile>* kind : {&files.msprobe, &files.npy, &files.paddle,
                                      &files.inspect, &files.op_debug}) {
    empty = empty && kind->empty();
    std::sort(kind->begin(), kind->end(),
              [](const DumpFile& a, const DumpFile& b) {
                return a.inside < b.inside;
              });
  }
  if (!empty) return files;
  return Error{fmt::format(
      "{}: no file of a dump is in this folder. Read are msprobe's dump.json, "
      ".npy files, Paddle's worker_*, nvdlfw_inspect_globalrank-*.log and "
      "CANN's Opdebug.Node_OpDebug.*.json; of .pt files `python -m "
      "nanwatch.dumps` makes .npy files",
      path)};
}

Status FeedFile(const std::string& path,
                const std::function<Status(std::string_view)>& feed) {
  Status fed = OkStatus();
  const Status read = ReadLogBytes(path, [&](std::string_view bytes) {
    if (fed.ok()) fed = feed(bytes);
  });
  if (!fed.ok()) return Error{fmt::format("{}: {}", path, fed.error())};
  return read;
}

Status FeedLines(const std::string& path,
                 const std::function<void(std::string_view)>& take) {
  LineSplitter lines(take);
  const Status read = FeedFile(path, [&lines](std::string_view bytes) {
    lines.Feed(bytes);
    return OkStatus();
  });
  lines.Finish();
  return read;
}

}  // namespace nanwatch
