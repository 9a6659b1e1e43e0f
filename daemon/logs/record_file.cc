#include "logs/record_file.h"

#include <algorithm>
#include <utility>

#include "logs/masked_crc.h"

namespace nanwatch {
namespace {

constexpr size_t kCrcSize = 4;
constexpr size_t kLengthSize = 8;

// Little-endian.
uint64_t Unsigned(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  }
  return value;
}

}  // namespace

RecordFile::RecordFile(OnRecord on_record) : on_record_(std::move(on_record)) {}

bool RecordFile::Recognise(std::string_view bytes) {
  return bytes.size() >= kHeadSize &&
         Unsigned(bytes.substr(kLengthSize, kCrcSize)) ==
             MaskedCrc32c(bytes.substr(0, kLengthSize));
}

size_t RecordFile::Step(std::string_view bytes) {
  if (bytes.size() < kHeadSize) return 0;
  if (!Recognise(bytes)) {
    if (!lost_) ++damaged_;
    lost_ = true;
    return 1;
  }
  const uint64_t length = Unsigned(bytes.substr(0, kLengthSize));
  if (length > kRecordMax) {
    lost_ = false;
    pass_over_ = length > UINT64_MAX - kCrcSize ? length : length + kCrcSize;
    return kHeadSize;
  }
  const size_t whole = kHeadSize + static_cast<size_t>(length) + kCrcSize;
  if (bytes.size() < whole) return 0;
  const std::string_view record = bytes.substr(kHeadSize, length);
  if (Unsigned(bytes.substr(whole - kCrcSize, kCrcSize)) !=
      MaskedCrc32c(record)) {
    if (!lost_) ++damaged_;
    // Its length was right: the next record follows.
    return whole;
  }
  lost_ = false;
  ++records_;
  on_record_(record);
  return whole;
}

void RecordFile::Feed(std::string_view bytes) {
  if (pass_over_ > 0) {
    const uint64_t gone = std::min<uint64_t>(pass_over_, bytes.size());
    pass_over_ -= gone;
    bytes.remove_prefix(gone);
  }
  if (!held_.empty()) {
    held_ += bytes;
    bytes = held_;
  }
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t done = Step(bytes.substr(at));
    if (done == 0) break;
    at += done;
    const uint64_t gone = std::min<uint64_t>(pass_over_, bytes.size() - at);
    pass_over_ -= gone;
    at += gone;
  }
  std::string rest(bytes.substr(at));
  held_ = std::move(rest);
}

void RecordFile::Finish() {
  if (!held_.empty() && !lost_) ++damaged_;
  held_.clear();
}

}  // namespace nanwatch
