// ScratchArena: where a protobuf message lives for the length of one function.
// The first 64 KB come from a block that the thread keeps, so that messages of
// the usual size cost no allocation; whatever a large one needed is freed
// again.

#ifndef NANWATCH_WIRE_SCRATCH_ARENA_H_
#define NANWATCH_WIRE_SCRATCH_ARENA_H_

#include <google/protobuf/arena.h>

#include <cstddef>
#include <memory>

#include "base/check.h"

namespace nanwatch {

class ScratchArena {
 public:
  ScratchArena() : arena_(Options()) {}
  ~ScratchArena() { block().busy = false; }
  ScratchArena(const ScratchArena&) = delete;
  ScratchArena& operator=(const ScratchArena&) = delete;

  // Dies with this.
  template <typename M>
  M* Create() {
    return google::protobuf::Arena::CreateMessage<M>(&arena_);
  }

 private:
  struct Block {
    static constexpr size_t kBytes = 64 << 10;
    std::unique_ptr<char[]> bytes{new char[kBytes]};
    bool busy = false;
  };
  static Block& block() {
    static thread_local Block block;
    return block;
  }
  static google::protobuf::ArenaOptions Options() {
    CHECK(!block().busy);  // one at a time a thread
    block().busy = true;
    google::protobuf::ArenaOptions options;
    options.initial_block = block().bytes.get();
    options.initial_block_size = Block::kBytes;
    return options;
  }

  google::protobuf::Arena arena_;
};

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_SCRATCH_ARENA_H_
