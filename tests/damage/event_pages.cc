#include "tests/damage/event_pages.h"

#include <algorithm>

#include "base/check.h"

namespace nanwatch {

// https://www.sqlite.org/fileformat2.html
namespace {

constexpr uint8_t kInnerTable = 0x05;
constexpr uint8_t kLeafTable = 0x0d;

}  // namespace

EventPages::EventPages(std::string_view file, uint32_t root) : file_(file) {
  page_bytes_ = Number(16, 2);
  if (page_bytes_ == 1) page_bytes_ = 65536;
  Walk(1);  // the schema
  for (const auto& [row, pages] : rows_) {
    inner_.insert(pages.begin(), pages.end());
  }
  inner_.insert(1);
  rows_.clear();
  Walk(root);
}

std::vector<uint64_t> EventPages::RowsWithout(uint32_t first,
                                              uint32_t last) const {
  const auto among = [&](const std::set<uint32_t>& pages) {
    const auto at = pages.lower_bound(first);
    return at != pages.end() && *at <= last;
  };
  std::vector<uint64_t> rows;
  if (among(inner_)) return rows;
  for (const auto& [row, pages] : rows_) {
    if (!among(pages)) rows.push_back(row);
  }
  return rows;
}

void EventPages::Walk(uint32_t page) {
  const size_t start = static_cast<size_t>(page - 1) * page_bytes_;
  const size_t head = page == 1 ? start + 100 : start;
  const uint32_t kind = Number(head, 1);
  const uint32_t cells = Number(head + 3, 2);
  CHECK(kind == kInnerTable || kind == kLeafTable);
  const size_t pointers = head + (kind == kInnerTable ? 12 : 8);
  if (kind == kInnerTable) inner_.insert(page);
  for (uint32_t i = 0; i < cells; ++i) {
    const size_t cell = start + Number(pointers + 2 * i, 2);
    if (kind == kInnerTable) {
      Walk(Number(cell, 4));
    } else {
      TakeCell(page, cell);
    }
  }
  if (kind == kInnerTable) Walk(Number(head + 8, 4));
}

void EventPages::TakeCell(uint32_t page, size_t at) {
  const uint64_t payload = Varint(&at);
  std::set<uint32_t>& pages = rows_[Varint(&at)];
  pages.insert(page);
  const uint64_t most = page_bytes_ - 35;
  if (payload <= most) return;
  const uint64_t least = (page_bytes_ - 12) * 32 / 255 - 23;
  const uint64_t fitting = least + (payload - least) % (page_bytes_ - 4);
  const uint64_t here = fitting <= most ? fitting : least;
  for (uint32_t next = Number(at + here, 4); next != 0;
       next = Number(static_cast<size_t>(next - 1) * page_bytes_, 4)) {
    pages.insert(next);
  }
}

uint32_t EventPages::Number(size_t at, int bytes) const {
  CHECK(at + bytes <= file_.size());
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value = value << 8 | static_cast<uint8_t>(file_[at + i]);
  }
  return value;
}

uint64_t EventPages::Varint(size_t* at) const {
  uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    const uint64_t byte = Number((*at)++, 1);
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return value;
}

}  // namespace nanwatch
