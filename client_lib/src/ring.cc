#include "client_lib/src/ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nanwatch_client {
namespace {

// All of it is written to before the first push, which shall not take long.
constexpr size_t kLeast = 4096;
constexpr size_t kMost = 256u << 20;

}  // namespace

Ring::Ring(size_t bytes)
    : capacity_(std::bit_ceil(std::clamp(bytes, kLeast, kMost))),
      memory_(new char[capacity_]) {
  memset(memory_.get(), 0, capacity_);
}

bool Ring::HasRoom(uint64_t end) {
  if (end - released_seen_ <= capacity_) return true;
  released_seen_ = released_.load(std::memory_order_acquire);
  return end - released_seen_ <= capacity_;
}

char* Ring::Reserve(FrameKind kind, size_t bytes) {
  if (bytes > capacity_ / 2 - sizeof(Header)) return nullptr;
  const uint64_t total = (sizeof(Header) + bytes + 7) & ~uint64_t{7};
  uint64_t start = written_.load(std::memory_order_relaxed);
  const uint64_t to_end = capacity_ - (start & (capacity_ - 1));
  const uint64_t padding = to_end < total ? to_end : 0;
  if (!HasRoom(start + padding + total)) return nullptr;
  if (padding != 0) {
    const Header skip = {static_cast<uint32_t>(padding), FrameKind::kPadding};
    memcpy(At(start), &skip, sizeof skip);
    start += padding;
  }
  const Header header = {static_cast<uint32_t>(total), kind};
  memcpy(At(start), &header, sizeof header);
  reserved_ = start + total;
  return At(start) + sizeof header;
}

void Ring::Commit() { written_.store(reserved_, std::memory_order_release); }

size_t Ring::Used() const {
  return written_.load(std::memory_order_acquire) - read_;
}

bool Ring::Next(Frame* frame) {
  while (Used() != 0) {
    Header header;
    memcpy(&header, At(read_), sizeof header);
    frame->kind = header.kind;
    frame->data = At(read_) + sizeof header;
    read_ += header.bytes;
    if (header.kind != FrameKind::kPadding) return true;
  }
  return false;
}

void Ring::Release() { released_.store(read_, std::memory_order_release); }

}  // namespace nanwatch_client
