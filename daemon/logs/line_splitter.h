// LineSplitter: bytes of a log, in pieces of any size, to lines. Constant
// memory whatever comes: a line longer than kLogLineMax is cut there, or,
// one of glued bars, behind a bar, or, of an object that begins the log, in
// parts.

#ifndef NANWATCH_LOGS_LINE_SPLITTER_H_
#define NANWATCH_LOGS_LINE_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nanwatch {

// The longest step line seen in a real log has 2 KB.
inline constexpr size_t kLogLineMax = 64 * 1024;

class LineSplitter {
 public:
  using OnLine = std::function<void(std::string_view line)>;
  explicit LineSplitter(OnLine on_line);

  // Lines end with \n, \r\n or (progress bars that rewrite themselves) \r or
  // backspaces.
  // UTF-16, with a byte order mark or without, is read as its low bytes.
  void Feed(std::string_view bytes);
  // The last line, if it has no end.
  void Finish();

  uint64_t bytes() const { return bytes_; }
  uint64_t cut_lines() const { return cut_lines_; }

 private:
  void Begin();
  void FeedBytes(std::string_view bytes);
  void FeedText(std::string_view text);
  void Keep(std::string_view part);
  // Passes on the bars that begin a line too long to be kept, and are whole.
  // False: there are none.
  bool PassBars();
  // Passes on the numbers that begin it, where the log begins with an object
  // that is longer: it may be all of the log.
  bool PassNumbers();
  void End();

  const OnLine on_line_;
  std::string begun_;       // a line whose end has not come
  bool cut_ = false;        // begun_ lost something
  bool first_ = true;       // no line has ended
  bool in_object_ = false;  // the first is one
  std::string mark_;        // the first bytes, until they tell what it is
  bool begun_text_ = false;
  int wide_ = -1;       // UTF-16: bytes until the next of text; -1: not UTF-16
  std::string narrow_;  // a piece of UTF-16 as text
  uint64_t bytes_ = 0;
  uint64_t cut_lines_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_SPLITTER_H_
