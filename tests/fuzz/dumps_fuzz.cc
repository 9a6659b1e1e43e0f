// Any bytes as a file of another tool's dump. The first byte says of which, and
// stays: the seeds of one reader fuzz that reader alone.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "compare/comparison.h"
#include "dumps/inspect_line.h"
#include "dumps/msprobe_reader.h"
#include "dumps/norm_line.h"
#include "dumps/norm_tables.h"
#include "dumps/npy_place.h"
#include "dumps/npy_reader.h"
#include "dumps/op_debug.h"
#include "dumps/paddle_line.h"

namespace {

using namespace nanwatch;

// Cut in the middle: nothing may depend on that.
template <typename Reader>
void Read(Reader* reader, std::string_view bytes) {
  if (!reader->Feed(bytes.substr(0, bytes.size() / 2)).ok()) return;
  if (!reader->Feed(bytes.substr(bytes.size() / 2)).ok()) return;
  (void)reader->Finish();
}

void ReadNpy(std::string_view bytes) {
  NpyReader reader(bytes.size());
  if (!reader.Feed(bytes.substr(0, bytes.size() / 2)).ok()) return;
  if (!reader.Feed(bytes.substr(bytes.size() / 2)).ok()) return;
  const Result<NpyTensor> read = reader.Finish();
  if (!read.ok()) return;
  // What is read is there.
  CHECK(read->header.elements <= bytes.size());
  CHECK(read->tensor.digest.has_value());
}

// Each line of a log, whose tables are a run in the end.
void ReadNorms(std::string_view log) {
  NormTables tables;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    if (!tables.Take(log.substr(0, end)).ok()) return;
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  const Result<ComparedRun> run = tables.Finish();
  if (run.ok()) (void)Compare(*run, *run);
}

void ReadLine(std::string_view line) {
  if (line.find(kPaddleMark) != std::string_view::npos) {
    (void)ReadPaddleLine(line);
  }
  if (line.find(kInspectMark) != std::string_view::npos) {
    (void)ReadInspectLine(line);
  }
  if (const std::optional<NormLine> norm = ReadNormLine(line)) {
    CHECK(line.find(norm->name) != std::string_view::npos);
    CHECK(!norm->name.empty());
  }
  const NpyPlace a = PlaceOfNpy(line);
  const NpyPlace b = PlaceOfNpy(line.substr(line.size() / 2));
  CHECK(!(IsBefore(a, b) && IsBefore(b, a)));
  CHECK(!IsBefore(a, a));
}

}  // namespace

// libFuzzer's; null where the driver of the corpus runs the target.
extern "C" __attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t* data,
                                                         size_t size,
                                                         size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned) {
  const size_t kept = size > 0 && max_size > 1 ? 1 : 0;
  return kept + LLVMFuzzerMutate(data + kept, size - kept, max_size - kept);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > (1 << 16)) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  switch (data[0]) {
    case 'm': {
      MsprobeReader reader;
      Read(&reader, bytes);
      break;
    }
    case 'o': {
      OpDebugReader reader;
      Read(&reader, bytes);
      break;
    }
    case 'l':
      ReadLine(bytes);
      break;
    case 't':
      ReadNorms(bytes);
      break;
    default:
      ReadNpy(bytes);
  }
  return 0;
}
