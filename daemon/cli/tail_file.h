// FollowedFile: what is written to a log while it grows, whatever becomes of
// the file: it may appear later, be renamed and created anew (rotation), be cut
// in place (copytruncate, a training that began again), or be written by a
// program that goes on at its old place after that.
//
// Asks the file again and again instead of being told: shared file systems tell
// nothing, and a log does not grow faster than a person reads.

#ifndef NANWATCH_CLI_TAIL_FILE_H_
#define NANWATCH_CLI_TAIL_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

class FollowedFile {
 public:
  // What became of the file itself since the read before.
  enum class News : uint8_t {
    kNone,
    kAppeared,  // it was not there at first
    kReplaced,  // another file has its name now, and is read from its start
    kCut,       // it is shorter or another than it was: read from its start
    kDenied,    // it cannot be opened or read; said once, see error()
  };
  struct Piece {
    std::string_view bytes;   // until the next read; empty: nothing more now
    News news = News::kNone;  // happened before these bytes
  };

  // `from_start` false: what stands there now is passed over.
  FollowedFile(std::string path, bool from_start);
  ~FollowedFile();
  FollowedFile(FollowedFile&& other) noexcept;
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  // At most `most` bytes that were not read yet. A replaced file is left for
  // the new one when twice in a row nothing more was in it, so call it again,
  // after a while, when it gave nothing.
  Piece Read(size_t most);

  const std::string& path() const { return path_; }
  bool there() const { return file_ >= 0; }
  const std::string& error() const { return error_; }

 private:
  bool Open();
  bool Changed(off_t size) const;
  Piece Fail();
  Piece Deny(const char* what);
  News Replace();

  const std::string path_;
  int file_ = -1;
  bool waited_ = false;   // it was not there at first
  bool fresh_ = true;     // nothing but zeros was read from it yet
  bool drained_ = false;  // replaced, and nothing was in it the last time
  off_t read_ = 0;        // bytes
  std::string last_;      // the last of them, to know the file by
  std::string error_;
  std::vector<char> piece_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_FILE_H_
