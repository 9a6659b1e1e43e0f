// EventPages: which pages of a history file hold which events. Read from the
// bytes by the file format's own rules, without SQLite, so that a test can say
// what damage to a page may cost, and that nothing else is lost with it.

#ifndef NANWATCH_TESTS_DAMAGE_EVENT_PAGES_H_
#define NANWATCH_TESTS_DAMAGE_EVENT_PAGES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

class EventPages {
 public:
  // `file` is a database that was closed in good order; `root` the first page
  // of its table `events`. Pages count from 1.
  EventPages(std::string_view file, uint32_t root);

  uint32_t page_bytes() const { return page_bytes_; }
  // Pages without which the table cannot be walked: those of the schema, and
  // the table's inner ones.
  const std::set<uint32_t>& inner() const { return inner_; }
  // Key of each row (its first id) to its leaf and its overflow pages.
  const std::map<uint64_t, std::set<uint32_t>>& rows() const { return rows_; }
  // Keys of the rows that no page from `first` to `last` holds a part of; none
  // if an inner page is among them.
  std::vector<uint64_t> RowsWithout(uint32_t first, uint32_t last) const;

 private:
  void Walk(uint32_t page);
  void TakeCell(uint32_t page, size_t at);
  uint32_t Number(size_t at, int bytes) const;  // big-endian
  uint64_t Varint(size_t* at) const;

  const std::string_view file_;
  uint32_t page_bytes_ = 0;
  std::set<uint32_t> inner_;
  std::map<uint64_t, std::set<uint32_t>> rows_;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_DAMAGE_EVENT_PAGES_H_
