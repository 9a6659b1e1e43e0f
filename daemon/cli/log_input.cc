#include "cli/log_input.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace nanwatch {
namespace {

constexpr size_t kLogPiece = 256 * 1024;

using OnBytes = std::function<void(std::string_view)>;
// False: enough.
using OnText = std::function<bool(std::string_view)>;

// What undoes the packing of a log, a piece at a time.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  // False: the bytes are damaged here, or it was enough.
  virtual bool Feed(std::string_view packed, const OnText& on_text) = 0;
  // False: the packed data ends in its middle.
  virtual bool Complete() const = 0;
};

class Plain : public Unpacker {
 public:
  bool Feed(std::string_view bytes, const OnText& on_text) override {
    return on_text(bytes);
  }
  bool Complete() const override { return true; }
};

class GzipFile : public Unpacker {
 public:
  GzipFile() { inflateInit2(&stream_, 15 + 32); }
  ~GzipFile() override { inflateEnd(&stream_); }

  bool Feed(std::string_view packed, const OnText& on_text) override {
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    while (stream_.avail_in > 0) {
      // Members may follow one another.
      if (ended_ && inflateReset(&stream_) != Z_OK) return false;
      ended_ = false;
      stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream_.avail_out = static_cast<uInt>(piece_.size());
      const int done = inflate(&stream_, Z_NO_FLUSH);
      if (!on_text({piece_.data(), piece_.size() - stream_.avail_out})) {
        return false;
      }
      if (done == Z_STREAM_END) {
        ended_ = true;
      } else if (done != Z_OK && done != Z_BUF_ERROR) {
        return false;
      }
    }
    return true;
  }
  bool Complete() const override { return ended_; }

 private:
  z_stream stream_{};
  std::vector<char> piece_ = std::vector<char>(kLogPiece);
  bool ended_ = false;
};

class Zstd : public Unpacker {
 public:
  bool Feed(std::string_view packed, const OnText& on_text) override {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      left_ = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(left_) != 0) return false;
      if (!on_text({piece_.data(), out.pos})) return false;
    }
    return true;
  }
  bool Complete() const override { return left_ == 0; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  std::vector<char> piece_ = std::vector<char>(kLogPiece);
  size_t left_ = 1;
};

std::unique_ptr<Unpacker> UnpackerFor(std::string_view first) {
  if (first.starts_with("\x1f\x8b")) return std::make_unique<GzipFile>();
  if (first.starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<Zstd>();
  return std::make_unique<Plain>();
}

// One log, until its end or a bound.
class Reading {
 public:
  Reading(int file, std::string name, const OnBytes& on_bytes)
      : file_(file), name_(std::move(name)), on_bytes_(on_bytes) {}

  // `piped`: a pipe with a name, which was opened without waiting.
  Status ToTheEnd(bool piped) {
    std::vector<char> piece(kLogPiece);
    while (true) {
      const bool silent = piped && !Ready(kPipeOpens);
      const ssize_t got = read(file_, piece.data(), piece.size());
      if (got == 0 && silent) {
        return Error{name_ + ": nobody writes to this pipe; name a file"};
      }
      if (got < 0 && errno == EAGAIN && silent && !Ready(kPipeWrites)) {
        return Error{fmt::format(
            "{}: nothing came out of this pipe for {} min; `nanwatch tail` "
            "follows a program for as long as it runs",
            name_, kPipeWrites.count())};
      }
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) {
        return Error{fmt::format("{}: {}", name_, std::strerror(errno))};
      }
      if (got == 0) return AtEnd();
      if (Status taken = Take({piece.data(), static_cast<size_t>(got)});
          !taken) {
        return taken;
      }
    }
  }

 private:
  bool Ready(std::chrono::milliseconds most) const {
    pollfd wait{file_, POLLIN, 0};
    return poll(&wait, 1, static_cast<int>(most.count())) != 0;
  }

  Status Take(std::string_view bytes) {
    packed_ += bytes.size();
    if (!unpacker_) unpacker_ = UnpackerFor(bytes);
    const bool whole = unpacker_->Feed(bytes, [&](std::string_view text) {
      text_ += text.size();
      if (!over()) on_bytes_(text);
      return !over();
    });
    if (over()) {
      return Error{fmt::format(
          "{}: {} MB of it were read, which is {}; the rest was not read",
          name_, text_ >> 20,
          text_ > kLogBytes ? "as much as is read of a log"
                            : "more than any log is packed to")};
    }
    if (whole) return OkStatus();
    return Error{fmt::format(
        "{}: the packed data is damaged; {}", name_,
        text_ > 0 ? "what stands before that was read" : "nothing was read")};
  }

  Status AtEnd() const {
    if (!unpacker_ || unpacker_->Complete()) return OkStatus();
    return Error{
        fmt::format("{}: the packed data ends in its middle; {}", name_,
                    text_ > 0 ? "what is there was read"
                              : "of what is there nothing can be unpacked")};
  }

  bool over() const {
    return text_ > kLogBytes ||
           (text_ > packed_ &&
            text_ > kUnpackedBytes + kUnpackedTimes * packed_);
  }

  const int file_;
  const std::string name_;
  const OnBytes& on_bytes_;
  std::unique_ptr<Unpacker> unpacker_;
  uint64_t packed_ = 0;  // bytes read
  uint64_t text_ = 0;    // bytes given
};

}  // namespace

bool IsDevice(int file) {
  struct stat found = {};
  fstat(file, &found);
  return S_ISBLK(found.st_mode) ||
         (S_ISCHR(found.st_mode) && isatty(file) == 0);
}

Status ReadLogBytes(const std::string& path, const OnBytes& on_bytes) {
  if (path == "-") {
    return Reading(STDIN_FILENO, "standard input", on_bytes).ToTheEnd(false);
  }
  // To open a pipe without a writer would wait for ever.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  struct stat found = {};
  fstat(file, &found);
  const bool pipe = S_ISFIFO(found.st_mode);
  if (!pipe) fcntl(file, F_SETFL, 0);  // wait as usual
  Status read = IsDevice(file)
                    ? Error{path + ": this is a device, no log: name a file"}
                    : Reading(file, path, on_bytes).ToTheEnd(pipe);
  close(file);
  return read;
}

}  // namespace nanwatch
