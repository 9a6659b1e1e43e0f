// RowNews: how many of a log's lines, one after another, say the same, and when
// that is news: they are enough, or twice as many as when it was news last, or
// the row is over. Each time is an event of the run, so they are few.

#ifndef NANWATCH_LOGS_ROW_NEWS_H_
#define NANWATCH_LOGS_ROW_NEWS_H_

#include <bit>
#include <cstdint>
#include <string>

namespace nanwatch {

template <int64_t kEnough>
class RowNews {
 public:
  // Takes in the next line. Returns true where the row is news.
  bool Take(bool is_so) {
    const bool was_told = is_told();
    row_ = is_so ? row_ + 1 : 0;
    return was_told ? !is_so || std::has_single_bit(static_cast<uint64_t>(row_))
                    : is_told();
  }
  int64_t row() const { return row_; }
  // Returns that as a setting; "": it is not told.
  std::string Text() const { return is_told() ? std::to_string(row_) : ""; }

 private:
  bool is_told() const { return row_ >= kEnough; }

  int64_t row_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ROW_NEWS_H_
