#include "client_lib/src/process.h"

#include <pthread.h>

#include <cstdlib>

namespace nanwatch_client {

std::atomic<uint32_t> g_forks{0};

namespace {

std::atomic<bool> g_entered{false};
std::atomic<bool> g_silent{false};
std::atomic<void (*)()> g_handler{nullptr};
std::atomic<uint32_t> g_handler_forks{0};

void InChild() {
  g_forks.fetch_add(1, std::memory_order_relaxed);
  g_silent.store(g_entered.load());
}

void AtExit() {
  if (Forks() == g_handler_forks.load() && g_handler.load() != nullptr) {
    g_handler.load()();
  }
}

}  // namespace

bool EnterProcess() {
  if (g_silent.load()) return false;
  if (!g_entered.exchange(true)) pthread_atfork(nullptr, nullptr, &InChild);
  return true;
}

void CallAtExit(void (*handler)()) {
  g_handler_forks.store(Forks());
  if (g_handler.exchange(handler) == nullptr) std::atexit(&AtExit);
}

void CallAtExitEarlier() { std::atexit(&AtExit); }

}  // namespace nanwatch_client
