#include "cli/dump_side.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/file.h"
#include "cli/dump_files.h"
#include "cli/style.h"
#include "dumps/dump_collector.h"
#include "dumps/inspect_line.h"
#include "dumps/msprobe_reader.h"
#include "dumps/npy_place.h"
#include "dumps/npy_reader.h"
#include "dumps/op_debug.h"
#include "dumps/paddle_line.h"

namespace nanwatch {
namespace {

Result<NpyTensor> ReadNpy(const std::string& path) {
  NpyReader reader(FileBytes(path));
  const Status fed = FeedFile(
      path, [&reader](std::string_view bytes) { return reader.Feed(bytes); });
  if (!fed.ok()) return Error{fed.error()};
  Result<NpyTensor> read = reader.Finish();
  if (!read.ok()) return Error{fmt::format("{}: {}", path, read.error())};
  return read;
}

NpyPlace NpyPlaceOf(const DumpFile& file) {
  NpyPlace place = PlaceOfNpy(file.inside);
  if (file.place.step) place.step = *file.place.step;
  return place;
}

// Devices name the innermost folder after the step.
int64_t StepOfDump(const DumpPlace& place) {
  if (place.step) return *place.step;
  if (place.folders.empty()) return 0;
  return DigitsOf(place.folders.back()).value_or(0);
}

class DumpReading {
 public:
  explicit DumpReading(const DumpFiles& files) : files_(files) {}

  Result<DumpedRun> Read() {
    const Status read = ReadTensors();
    if (!read.ok()) return Error{read.error()};
    const Status checked = ReadOverflows();
    if (!checked.ok()) return Error{checked.error()};
    if (collector_.IsEmpty()) {
      return Error{unread_.empty()
                       ? files_.root +
                             ": no tensor of this dump has numbers, "
                             "and no overflow is in it"
                       : unread_};
    }
    return DumpedRun{collector_.Finish(), Complaint()};
  }

 private:
  Status ReadTensors() {
    if (!files_.msprobe.empty()) return ReadMsprobes();
    if (!files_.npy.empty()) return ReadNpyFolder();
    if (!files_.paddle.empty()) return ReadPaddle();
    return files_.inspect.empty() ? OkStatus() : ReadInspect();
  }

  Status ReadMsprobes() {
    const int64_t rank = LowestRank(files_.msprobe);
    std::map<int64_t, std::string> steps;
    for (const DumpFile& file : files_.msprobe) {
      if (file.place.rank.value_or(0) != rank) continue;
      const int64_t step = file.place.step.value_or(0);
      const auto [at, is_new] = steps.try_emplace(step, file.path);
      if (!is_new) {
        return Error{fmt::format(
            "{}: it holds two dumps of step {}, {} and {}; name the folder of "
            "one",
            files_.root, step, at->second, file.path)};
      }
      const Status read = ReadMsprobe(file.path, step);
      if (!read.ok()) return read;
    }
    return OkStatus();
  }

  Status ReadMsprobe(const std::string& path, int64_t step) {
    MsprobeReader reader;
    const Status fed = FeedFile(
        path, [&reader](std::string_view bytes) { return reader.Feed(bytes); });
    if (!fed.ok()) return fed;
    Result<std::vector<MsprobeTensor>> tensors = reader.Finish();
    if (!tensors.ok()) {
      return Error{fmt::format(
          "{}: {}. msprobe writes it when it stops: make the dump again", path,
          tensors.error())};
    }
    for (size_t i = 0; i < reader.empty(); ++i) collector_.CountEmpty();
    for (MsprobeTensor& tensor : *tensors) {
      TakeElements(ParentDirectory(path), tensor.data_name,
                   &tensor.dumped.tensor);
      tensor.dumped.tensor.step = step;
      const Status taken = collector_.Take(std::move(tensor.dumped));
      if (!taken.ok()) return Error{path + ": " + taken.error()};
    }
    return OkStatus();
  }

  // MindSpore's elements lie beside the file, as .npy. A name that leads out of
  // the dump is none of msprobe's.
  void TakeElements(const std::string& folder, const std::string& name,
                    ComparedTensor* tensor) {
    if (!name.ends_with(".npy") || name.find('/') != std::string::npos) return;
    const std::string path = folder + "/dump_tensor_data/" + name;
    const Result<NpyTensor> read = ReadNpy(path);
    if (!read.ok()) {
      CountUnread(read.error());
      return;
    }
    tensor->digest = read->tensor.digest;
    tensor->sketch = read->tensor.sketch;
    tensor->nan = read->tensor.nan;
    tensor->inf = read->tensor.inf;
  }

  Status ReadNpyFolder() {
    const int64_t rank = LowestRank(files_.npy);
    std::vector<std::pair<NpyPlace, const DumpFile*>> places;
    for (const DumpFile& file : files_.npy) {
      if (file.place.rank.value_or(0) != rank) continue;
      places.emplace_back(NpyPlaceOf(file), &file);
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const auto& a, const auto& b) {
                       return IsBefore(a.first, b.first);
                     });
    for (auto& [place, file] : places) {
      const Result<NpyTensor> read = ReadNpy(file->path);
      if (!read.ok()) {
        CountUnread(read.error());
        continue;
      }
      if (!place.time) collector_.SetUnordered();
      DumpedTensor dumped;
      dumped.op.name = std::move(place.name);
      dumped.op.type = std::move(place.type);
      dumped.op.dtype = read->header.dtype;
      dumped.op.logical_shape = read->header.shape;
      dumped.tensor = read->tensor;
      dumped.tensor.step = place.step;
      dumped.tensor.slot = place.slot;
      const Status taken = collector_.Take(std::move(dumped));
      if (!taken.ok()) return Error{files_.root + ": " + taken.error()};
    }
    return OkStatus();
  }

  Status ReadPaddle() {
    return ReadLines(files_.paddle, kPaddleMark, [this](std::string_view line) {
      std::optional<DumpedTensor> read = ReadPaddleLine(line);
      return read ? Keep(std::move(read)) : Unread();
    });
  }

  Status ReadInspect() {
    collector_.SetUnordered();
    InspectTensors tensors;
    const Status read = ReadLines(
        files_.inspect, kInspectMark, [this, &tensors](std::string_view line) {
          const std::optional<InspectLine> number = ReadInspectLine(line);
          return number ? Keep(tensors.Take(*number)) : Unread();
        });
    if (!read.ok()) return read;
    return Keep(tensors.Finish());
  }

  Status ReadOverflows() {
    // An op's files say its task and stream.
    std::map<std::tuple<int64_t, int64_t, int64_t>, std::string> ops;
    for (const DumpFile& file : files_.npy) {
      const NpyPlace place = NpyPlaceOf(file);
      if (place.task >= 0) {
        ops.try_emplace({place.step, place.task, place.stream}, place.name);
      }
    }
    for (const DumpFile& file : files_.op_debug) {
      OpDebugReader reader;
      const Status fed = FeedFile(file.path, [&reader](std::string_view bytes) {
        return reader.Feed(bytes);
      });
      Result<std::vector<OpOverflow>> found = reader.Finish();
      if (!fed.ok() || !found.ok()) {
        CountUnread(fed.ok() ? file.path + ": " + found.error() : fed.error());
        continue;
      }
      collector_.SetDeviceChecked();
      const int64_t step = StepOfDump(file.place);
      for (const OpOverflow& overflow : *found) {
        const auto op = ops.find({step, overflow.task, overflow.stream});
        collector_.Take(DeviceOverflow{
            step,
            op != ops.end() ? op->second
                            : fmt::format("task {} of stream {}", overflow.task,
                                          overflow.stream),
            overflow.unit, MeaningOf(overflow)});
      }
    }
    return OkStatus();
  }

  // Gives the lines of the lowest rank that hold `mark`.
  Status ReadLines(const std::vector<DumpFile>& files, std::string_view mark,
                   const std::function<Status(std::string_view)>& take) {
    const int64_t rank = LowestRank(files);
    for (const DumpFile& file : files) {
      if (file.place.rank.value_or(0) != rank) continue;
      reading_ = file.path;
      Status taken = OkStatus();
      const Status read = FeedLines(file.path, [&](std::string_view line) {
        if (taken.ok() && line.find(mark) != std::string_view::npos) {
          taken = take(line);
        }
      });
      if (!read.ok()) return read;
      if (!taken.ok()) return Error{file.path + ": " + taken.error()};
    }
    return OkStatus();
  }

  Status Keep(std::optional<DumpedTensor> dumped) {
    return dumped ? collector_.Take(std::move(*dumped)) : OkStatus();
  }

  Status Unread() {
    CountUnread(reading_ + ": a line of a tensor is not whole");
    return OkStatus();
  }

  int64_t LowestRank(const std::vector<DumpFile>& files) {
    for (const DumpFile& file : files) {
      ranks_.insert(file.place.rank.value_or(0));
    }
    return *ranks_.begin();
  }

  // A file, or a line of one.
  void CountUnread(const std::string& error) {
    collector_.CountUnread();
    if (unread_count_++ == 0) unread_ = error;
  }

  std::string Complaint() const {
    std::string text;
    if (unread_count_ > 0) {
      text = fmt::format("{} of the dump could not be read. The first: {}.",
                         Counted(unread_count_, "part"), unread_);
    }
    if (ranks_.size() > 1) {
      text += fmt::format(
          "{}Of {} ranks the lowest was compared, {}; name the folder of "
          "another one to compare that.",
          text.empty() ? "" : " ", ranks_.size(), *ranks_.begin());
    }
    return text;
  }

  const DumpFiles& files_;
  DumpCollector collector_;
  std::set<int64_t> ranks_;
  std::string reading_;  // the file
  size_t unread_count_ = 0;
  std::string unread_;  // why the first one could not be
};

}  // namespace

Result<DumpedRun> ReadDump(const std::string& path) {
  const Result<DumpFiles> files = FindDumpFiles(path);
  if (!files.ok()) return Error{files.error()};
  return DumpReading(*files).Read();
}

}  // namespace nanwatch
