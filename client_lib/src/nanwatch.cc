// The C functions of nanwatch.h: the border that no exception crosses, and the
// list of open sessions that exit looks after.

#include <nanwatch.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "client_lib/src/process.h"
#include "client_lib/src/session.h"

struct nanwatch_session {
  nanwatch_client::Session session;
};

namespace nanwatch_client {
namespace {

constexpr int kExitMs = 1000;

struct OpenSessions {
  std::mutex mutex;
  std::vector<nanwatch_session*> all;
};
// Never destroyed: exit handlers of others may still push.
OpenSessions& Sessions() {
  static OpenSessions& sessions = *new OpenSessions;
  return sessions;
}

void EndAllAtExit() noexcept {
  try {
    OpenSessions& sessions = Sessions();
    std::lock_guard lock(sessions.mutex);
    // The handles stay: somebody may still hold one.
    for (nanwatch_session* session : std::exchange(sessions.all, {})) {
      session->session.Close(kExitMs, /*in_order=*/false);
    }
  } catch (...) {
  }
}

// False: somebody else (exit) has ended it.
bool Forget(nanwatch_session* session) {
  OpenSessions& sessions = Sessions();
  std::lock_guard lock(sessions.mutex);
  return std::erase(sessions.all, session) != 0;
}

// What both the caller and we know of `given`; 0 beyond. A size that ends
// within a member, which no caller's struct has, ends before it: half of a
// pointer is none.
template <typename T>
bool Known(const T* given, T* known) {
  if (given == nullptr || given->struct_size < sizeof given->struct_size) {
    return false;
  }
  memset(static_cast<void*>(known), 0, sizeof *known);
  const size_t size = std::min<size_t>(given->struct_size, sizeof *known);
  memcpy(static_cast<void*>(known), given, size - size % alignof(T));
  return true;
}

bool Alive(const nanwatch_session* session) {
  return session != nullptr && session->session.Alive();
}

template <typename T>
void Push(nanwatch_session* session, const T* record) {
  if (!Alive(session) || record == nullptr) return;
  if (record->struct_size == sizeof *record) {
    session->session.Push(*record);
    return;
  }
  T known;
  if (Known(record, &known)) session->session.Push(known);
}

}  // namespace
}  // namespace nanwatch_client

namespace client = nanwatch_client;

extern "C" {

const char* nanwatch_version(void) { return NANWATCH_VERSION; }

nanwatch_session* nanwatch_open(const nanwatch_run_options* options) {
  nanwatch_run_options known;
  nanwatch_run_options_init(&known);
  if (options != nullptr && !client::Known(options, &known)) return nullptr;
  if (!client::EnterProcess()) return nullptr;
  try {
    client::OpenSessions& sessions = client::Sessions();
    client::CallAtExit(&client::EndAllAtExit);
    std::lock_guard lock(sessions.mutex);
    sessions.all.reserve(sessions.all.size() + 1);
    auto* session = new nanwatch_session{client::Session(known)};
    sessions.all.push_back(session);
    return session;
  } catch (...) {
    return nullptr;
  }
}

void nanwatch_push_step(nanwatch_session* session, const nanwatch_step* step) {
  client::Push(session, step);
}

void nanwatch_push_op(nanwatch_session* session,
                      const nanwatch_op_status* status) {
  client::Push(session, status);
}

int32_t nanwatch_op_register(nanwatch_session* session, const nanwatch_op* op) {
  nanwatch_op known;
  if (!client::Alive(session) || !client::Known(op, &known)) return -1;
  try {
    return session->session.RegisterOp(known);
  } catch (...) {
    return -1;
  }
}

int32_t nanwatch_optimizer_register(nanwatch_session* session,
                                    const char* name) {
  if (!client::Alive(session)) return 0;
  try {
    return session->session.RegisterOptimizer(name);
  } catch (...) {
    return 0;
  }
}

int nanwatch_poll(nanwatch_session* session, nanwatch_request* request) {
  if (!client::Alive(session) || request == nullptr) return 0;
  try {
    nanwatch_request taken;
    if (!session->session.Poll(&taken)) return 0;
    const uint32_t size = request->struct_size;
    memcpy(request, &taken, std::min<size_t>(size, sizeof taken));
    request->struct_size = size;
    return 1;
  } catch (...) {
    return 0;
  }
}

int nanwatch_flush(nanwatch_session* session, int timeout_ms) {
  if (!client::Alive(session)) return 0;
  try {
    return session->session.Flush(timeout_ms) ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

int nanwatch_close(nanwatch_session* session, int timeout_ms) {
  if (!client::Alive(session)) return 0;
  try {
    if (!client::Forget(session)) return 0;
    const bool acked = session->session.Close(timeout_ms, /*in_order=*/true);
    delete session;
    return acked ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

void nanwatch_get_stats(const nanwatch_session* session,
                        nanwatch_stats* stats) {
  if (stats == nullptr || stats->struct_size < sizeof stats->struct_size) {
    return;
  }
  nanwatch_stats now;
  nanwatch_stats_init(&now);
  if (client::Alive(session)) {
    try {
      session->session.GetStats(&now);
    } catch (...) {
    }
  }
  const uint32_t size = stats->struct_size;
  memcpy(stats, &now, std::min<size_t>(size, sizeof now));
  stats->struct_size = size;
}

}  // extern "C"
