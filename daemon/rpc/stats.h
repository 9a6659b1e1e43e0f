// RpcStats: what the gRPC side counts of itself.

#ifndef NANWATCH_RPC_STATS_H_
#define NANWATCH_RPC_STATS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/client_message.h"
#include "model/self_sample.h"

namespace nanwatch {

inline constexpr int kRefusalReasons = 7;
std::string_view Name(RefusalReason reason);  // "invalid", "busy", ...

// The bounds that can be hit on the way in, by their names in model/limits.h.
inline constexpr std::array<std::string_view, 29> kIngestLimits = {
    "message_bytes", "batch_records",  "string_bytes",
    "settings",      "shape_dims",     "optimizers",
    "layer_scales",  "streams",        "ops_per_session",
    "op_bytes",      "op_shapes",      "sessions_per_stream",
    "replies",       "runs",           "ranks",
    "run_bytes",     "memory",         "mailbox",
    "history_queue", "user_runs",      "user_sessions",
    "user_op_bytes", "user_run_bytes", "user_connections",
    "user_streams",  "user_queries",   "user_bytes",
    "connections",   "other"};

// Counters, ever rising, but for `streams`. Written and read by any thread.
struct RpcStats {
  std::atomic<int64_t> streams{0};  // open now
  std::atomic<uint64_t> streams_opened{0};
  std::atomic<uint64_t> messages{0};
  std::atomic<uint64_t> bytes{0};
  // Sent again by the client anyway, so not read: they follow a BUSY refusal.
  std::atomic<uint64_t> passed_over{0};
  // Connections and calls of who may not come in, or did not say who he is.
  std::atomic<uint64_t> peers_refused{0};
  std::array<std::atomic<uint64_t>, kRefusalReasons> refused{};
  std::array<std::atomic<uint64_t>, kIngestLimits.size()> limit_hits{};

  void CountRefusal(RefusalReason reason);
  void CountLimit(std::string_view limit);  // a name that is none: "other"
};

// The samples of `stats`, appended.
void AppendSamples(const RpcStats& stats, std::vector<SelfSample>* samples);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_STATS_H_
