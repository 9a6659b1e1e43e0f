// Ring: bounded bytes between one pushing thread and the sender. No lock, no
// system call, no wait; memory is touched at the start, so that no push takes a
// page fault.

#ifndef NANWATCH_CLIENT_RING_H_
#define NANWATCH_CLIENT_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace nanwatch_client {

enum class FrameKind : uint32_t { kPadding, kStep, kOp };

// One record in the ring. `data` is 8-aligned and stays valid until Release.
struct Frame {
  FrameKind kind = FrameKind::kPadding;
  char* data = nullptr;
};

class Ring {
 public:
  // `bytes` is rounded up to a power of two, at least 4 KiB.
  explicit Ring(size_t bytes);

  // --- The pushing thread ---
  // Room for `bytes` of payload, or null when there is none. Nothing is visible
  // to the reader before Commit. A frame takes at most half of the ring.
  char* Reserve(FrameKind kind, size_t bytes);
  void Commit();

  // --- The reading thread ---
  // Bytes that wait, headers included.
  size_t Used() const;
  // Takes the next frame of those that waited at the last Used() or later;
  // false when there is none. Frames keep their room until Release.
  bool Next(Frame* frame);
  // Gives back the room of all frames that Next returned.
  void Release();

  size_t capacity() const { return capacity_; }

 private:
  struct Header {
    uint32_t bytes;  // of header and payload, a multiple of 8
    FrameKind kind;
  };
  char* At(uint64_t position) {
    return memory_.get() + (position & (capacity_ - 1));
  }
  bool HasRoom(uint64_t end);

  const size_t capacity_;
  std::unique_ptr<char[]> memory_;

  // Positions only rise. A cache line a thread: they would slow each other.
  alignas(64) std::atomic<uint64_t> written_{0};
  uint64_t reserved_ = 0;       // where the reserved frame ends
  uint64_t released_seen_ = 0;  // the pusher's last look at released_
  alignas(64) std::atomic<uint64_t> released_{0};
  uint64_t read_ = 0;
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_RING_H_
