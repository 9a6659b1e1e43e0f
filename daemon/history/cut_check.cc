#include "history/cut_check.h"

#include <string_view>

#include "base/file.h"

namespace nanwatch {

namespace {

// https://www.sqlite.org/fileformat2.html#the_database_header
constexpr size_t kHeaderBytes = 100;

uint64_t BigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

}  // namespace

uint64_t BytesCutOff(const std::string& path) {
  const std::string head = ReadHead(path, kHeaderBytes);
  if (head.size() < kHeaderBytes || FileBytes(path + "-wal") > 0) return 0;
  const std::string_view bytes = head;
  // The count of pages holds where both counters of changes agree.
  if (bytes.substr(24, 4) != bytes.substr(92, 4)) return 0;
  const uint64_t page = BigEndian(bytes.substr(16, 2));
  const uint64_t page_bytes = page == 1 ? 65536 : page;
  const uint64_t whole = page_bytes * BigEndian(bytes.substr(28, 4));
  const uint64_t there = FileBytes(path);
  return there < whole ? whole - there : 0;
}

}  // namespace nanwatch
