// Any bytes as a log, to the search of formats, to one of them or to all; and
// as a TensorBoard file. The first byte says which. Records are such as the
// engine may be given.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "logs/line_splitter.h"
#include "logs/log_reader.h"
#include "logs/tensorboard.h"

namespace {

using nanwatch::LogFact;
using nanwatch::LogFormat;
using nanwatch::LogRecord;

void CheckRecord(const LogRecord& record) {
  CHECK(record.rank >= 0 && record.step.step >= 0);
  CHECK((record.step.present >> nanwatch::kStepFields) == 0);
  CHECK((record.step.flags & ~record.step.flags_present) == 0);
}

void ReadAs(const LogFormat* format, std::string_view bytes) {
  nanwatch::LogReader reader(format, {}, CheckRecord);
  nanwatch::LineSplitter splitter([&reader](std::string_view line) {
    CHECK(line.size() <= nanwatch::kLogLineMax);
    reader.ReadLine(line);
  });
  // Cut in the middle: nothing may depend on that.
  splitter.Feed(bytes.substr(0, bytes.size() / 2));
  splitter.Feed(bytes.substr(bytes.size() / 2));
  splitter.Finish();
  reader.Finish();
  CHECK(format == nullptr || reader.recogniser().program() == format);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > (1 << 16)) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  const auto formats = nanwatch::AllLogFormats();
  switch (data[0]) {
    case 's':  // the search
      ReadAs(nullptr, bytes);
      break;
    case 'a':  // all formats, one after the other
      for (const LogFormat* format : formats) ReadAs(format, bytes);
      break;
    case 't': {
      nanwatch::TensorBoardReader board({}, [](const LogFact&, uint64_t) {});
      board.Feed(bytes.substr(0, bytes.size() / 2));
      board.Feed(bytes.substr(bytes.size() / 2));
      board.Finish();
      break;
    }
    default:  // one format
      ReadAs(formats[data[0] % formats.size()], bytes);
  }
  return 0;
}
