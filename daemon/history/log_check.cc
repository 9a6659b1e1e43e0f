#include "history/log_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#include "base/file.h"

namespace nanwatch {

namespace {

// https://www.sqlite.org/fileformat2.html#walformat
constexpr size_t kLogHeaderBytes = 32;
constexpr size_t kFrameHeaderBytes = 24;
constexpr uint32_t kMagic = 0x377f0682;  // the lowest bit: big-endian sums

uint32_t BigEndian32(const char* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<uint8_t>(at[i]);
  }
  return value;
}

uint32_t LittleEndian32(const char* at) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8 | static_cast<uint8_t>(at[i]);
  }
  return value;
}

// The sum over a log so far.
struct Sum {
  bool big_endian = false;
  uint32_t a = 0;
  uint32_t b = 0;

  void Add(const char* bytes, size_t count) {
    for (size_t i = 0; i + 8 <= count; i += 8) {
      const char* at = bytes + i;
      a += (big_endian ? BigEndian32(at) : LittleEndian32(at)) + b;
      b += (big_endian ? BigEndian32(at + 4) : LittleEndian32(at + 4)) + a;
    }
  }
  bool Is(const char* at) const {
    return a == BigEndian32(at) && b == BigEndian32(at + 4);
  }
};

struct Header {
  std::array<char, kLogHeaderBytes> bytes{};
  size_t page_bytes = 0;
  Sum sum;

  bool Take() {
    const uint32_t magic = BigEndian32(bytes.data());
    page_bytes = BigEndian32(&bytes[8]);
    sum.big_endian = (magic & 1) != 0;
    sum.Add(bytes.data(), 24);
    return (magic & ~1u) == kMagic && sum.Is(&bytes[24]) && page_bytes >= 512 &&
           page_bytes <= 65536;
  }
  // The frame was written after this header was.
  bool Begot(const std::string& frame) const {
    return std::equal(&bytes[16], &bytes[24], &frame[8]);
  }
};

}  // namespace

std::string DamageOfLog(const std::string& path) {
  const std::string log = path + "-wal";
  std::ifstream file(log, std::ios::binary);
  Header header;
  if (!file.read(header.bytes.data(), kLogHeaderBytes)) return "";
  if (!header.Take()) {
    return log + " is damaged at its begin: the newest events, " +
           std::to_string(FileBytes(log)) + " bytes of them, are gone. ";
  }
  std::string frame(kFrameHeaderBytes + header.page_bytes, '\0');
  size_t damaged_at = 0;
  size_t lost = 0;
  size_t at = kLogHeaderBytes;
  for (; file.read(frame.data(), static_cast<std::streamsize>(frame.size()));
       at += frame.size()) {
    bool ours = header.Begot(frame);
    if (damaged_at == 0) {
      header.sum.Add(frame.data(), 8);
      header.sum.Add(&frame[kFrameHeaderBytes], header.page_bytes);
      const bool whole = header.sum.Is(&frame[16]);
      if (ours && whole) continue;
      damaged_at = at;
      ours = ours || whole;
    }
    // A transaction's last page says how large the database is then.
    if (ours && BigEndian32(&frame[4]) != 0) ++lost;
  }
  if (lost == 0) return "";
  return log + " is damaged at byte " + std::to_string(damaged_at) + ": what " +
         std::to_string(lost) + (lost == 1 ? " transaction" : " transactions") +
         " wrote from there on is gone (after a power failure, nothing that "
         "was acknowledged). ";
}

std::string MissingLog(const std::string& path) {
  return path + " was not closed in good order, and " + path +
         "-wal is not beside it: if it is a copy that was made without, the "
         "newest events are missing (copy both). ";
}

}  // namespace nanwatch
