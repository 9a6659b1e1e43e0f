#include "model/step_stretches.h"

#include <algorithm>
#include <charconv>

namespace nanwatch {

void AddStretch(int64_t from, int64_t to, std::string* told) {
  constexpr size_t kMost = 120;                // bytes; ours
  const size_t newest = told->rfind(' ') + 1;  // 0 where there is one at most
  const char* const end = told->data() + told->size();
  int64_t first = 0;
  int64_t last = -1;
  const auto one = std::from_chars(told->data() + newest, end, first);
  if (one.ptr != end) std::from_chars(one.ptr + 1, end, last);
  if (last >= from) {
    told->resize(newest);
    from = std::min(first, from);
    to = std::max(last, to);
  } else if (!told->empty()) {
    *told += ' ';
  }
  *told += std::to_string(from) + '-' + std::to_string(to);
  while (told->size() > kMost) told->erase(0, told->find(' ') + 1);
}

}  // namespace nanwatch
