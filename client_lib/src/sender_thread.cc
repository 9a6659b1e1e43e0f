#include "client_lib/src/sender_thread.h"

#include <pthread.h>
#include <signal.h>

#include <mutex>
#include <utility>

namespace nanwatch_client {

std::thread StartSender(std::shared_ptr<Shared> shared, SenderOptions options) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto run = [](std::shared_ptr<Shared> s, SenderOptions o) {
    pthread_setname_np(pthread_self(), "nanwatch");
    try {
      Sender(s, std::move(o)).Run();
    } catch (...) {
      // Out of memory, most likely: the session is silent from here on.
    }
    std::lock_guard lock(s->mutex);
    s->ended = true;
    s->connected = false;
    s->changed.notify_all();
  };
  std::thread thread;
  try {
    thread = std::thread(run, std::move(shared), std::move(options));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace nanwatch_client
