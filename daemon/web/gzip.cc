#include "web/gzip.h"

#include <zlib.h>

namespace nanwatch {

std::optional<std::string> Gzip(std::string_view text, GzipLevel level) {
  constexpr int kGzipWindow = 15 + 16;  // 16: a gzip header, not zlib's
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  const int effort =
      level == GzipLevel::kFast ? Z_BEST_SPEED : Z_BEST_COMPRESSION;
  if (deflateInit2(&stream, effort, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // read only
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!done) return std::nullopt;
  return packed;
}

}  // namespace nanwatch
