// Process: whether this is still the process that opened a session, and what
// happens at its exit.
//
// gRPC does not survive fork, and a mutex that the sender held at that moment
// stays locked in the child for ever. So a child touches nothing.

#ifndef NANWATCH_CLIENT_PROCESS_H_
#define NANWATCH_CLIENT_PROCESS_H_

#include <atomic>
#include <cstdint>

namespace nanwatch_client {

// Rises in each forked child.
extern std::atomic<uint32_t> g_forks;

inline uint32_t Forks() { return g_forks.load(std::memory_order_relaxed); }

// Called before the first session of a process starts its thread. False: an
// ancestor had one; stay silent.
bool EnterProcess();

// Calls `handler` (noexcept, harmless when called again) at exit of this
// process, not of its children.
void CallAtExit(void (*handler)());
// Statics that were made before this call still live when the handler runs. For
// the user of gRPC, once gRPC runs.
void CallAtExitEarlier();

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_PROCESS_H_
