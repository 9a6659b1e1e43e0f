// EventBlob: the bytes of one row of the table `events`: one event or many of
// one rank, each with its id and its `now`, under one checksum.
//
// What a blob gives back is either exactly what went in or an error.

#ifndef NANWATCH_HISTORY_EVENT_BLOB_H_
#define NANWATCH_HISTORY_EVENT_BLOB_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace nanwatch {

// What a buffer keeps between two uses: eight times what a blob of batches
// holds. A checkpoint of 10,000 ranks is 200 MB.
inline constexpr size_t kKeptBytes = 1 << 20;

// zstd with its content checksum; contexts are kept, they cost more than a
// small blob does.
class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  // Good until the next call.
  std::string_view Compress(std::string_view bytes);

 private:
  ZSTD_CCtx_s* const context_;
  std::unique_ptr<char[]> packed_;  // room_ bytes
  size_t room_ = 0;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  // False: damaged.
  bool Decompress(std::string_view bytes, std::string* out);

 private:
  ZSTD_DCtx_s* const context_;
};

// Appends one event to the plain bytes of a blob. `*last_id` and `*last_now`
// carry over from the event before; 0 before the first.
void AppendToBlob(uint64_t id, Time now, std::string_view event,
                  uint64_t* last_id, int64_t* last_now, std::string* plain);

// The same backwards, event by event.
class BlobReader {
 public:
  explicit BlobReader(std::string_view plain) : rest_(plain) {}
  // False: the end, or damage (then damaged()).
  bool Next(StampedEvent* event);
  bool damaged() const { return damaged_; }

 private:
  std::string_view rest_;
  uint64_t id_ = 0;
  int64_t now_ = 0;
  bool damaged_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_EVENT_BLOB_H_
