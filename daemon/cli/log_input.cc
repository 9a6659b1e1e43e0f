#include "cli/log_input.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace nanwatch {
namespace {

constexpr size_t kPiece = 256 * 1024;

using OnBytes = std::function<void(std::string_view)>;

// What undoes the packing of a log, a piece at a time.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  // False: the bytes are damaged here.
  virtual bool Feed(std::string_view packed, const OnBytes& on_bytes) = 0;
  // False: the packed data ends in its middle.
  virtual bool Complete() const = 0;
};

class Plain : public Unpacker {
 public:
  bool Feed(std::string_view bytes, const OnBytes& on_bytes) override {
    on_bytes(bytes);
    return true;
  }
  bool Complete() const override { return true; }
};

class Gzip : public Unpacker {
 public:
  Gzip() { inflateInit2(&stream_, 15 + 32); }
  ~Gzip() override { inflateEnd(&stream_); }

  bool Feed(std::string_view packed, const OnBytes& on_bytes) override {
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
      on_bytes({piece_.data(), piece_.size() - stream_.avail_out});
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
  std::vector<char> piece_ = std::vector<char>(kPiece);
  bool ended_ = false;
};

class Zstd : public Unpacker {
 public:
  bool Feed(std::string_view packed, const OnBytes& on_bytes) override {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      left_ = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(left_) != 0) return false;
      on_bytes({piece_.data(), out.pos});
    }
    return true;
  }
  bool Complete() const override { return left_ == 0; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  std::vector<char> piece_ = std::vector<char>(kPiece);
  size_t left_ = 1;
};

std::unique_ptr<Unpacker> UnpackerFor(std::string_view first) {
  if (first.starts_with("\x1f\x8b")) return std::make_unique<Gzip>();
  if (first.starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<Zstd>();
  return std::make_unique<Plain>();
}

Status ReadAll(int file, const std::string& name, const OnBytes& on_bytes) {
  std::vector<char> piece(kPiece);
  std::unique_ptr<Unpacker> unpacker;
  bool any = false;
  const OnBytes pass = [&](std::string_view bytes) {
    any |= !bytes.empty();
    on_bytes(bytes);
  };
  while (true) {
    const ssize_t got = read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error{fmt::format("{}: {}", name, std::strerror(errno))};
    }
    if (got == 0) break;
    const std::string_view bytes(piece.data(), static_cast<size_t>(got));
    if (!unpacker) unpacker = UnpackerFor(bytes);
    if (!unpacker->Feed(bytes, pass)) {
      return Error{fmt::format(
          "{}: the packed data is damaged; {}", name,
          any ? "what stands before that was read" : "nothing was read")};
    }
  }
  if (unpacker && !unpacker->Complete()) {
    return Error{fmt::format("{}: the packed data ends in its middle; {}", name,
                             any ? "what is there was read"
                                 : "of what is there nothing can be unpacked")};
  }
  return OkStatus();
}

}  // namespace

Status ReadLogBytes(const std::string& path, const OnBytes& on_bytes) {
  if (path == "-") return ReadAll(STDIN_FILENO, "standard input", on_bytes);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  Status read = ReadAll(file, path, on_bytes);
  close(file);
  return read;
}

}  // namespace nanwatch
