#include "rpc/stats.h"

#include <string>

#include "model/metric_names.h"

namespace nanwatch {
namespace {

void Increment(std::atomic<uint64_t>* counter) {
  counter->fetch_add(1, std::memory_order_relaxed);
}

void Append(Metric metric, std::vector<std::pair<std::string, std::string>> by,
            double value, std::vector<SelfSample>* samples) {
  samples->push_back({Name(metric), std::move(by), value});
}

}  // namespace

std::string_view Name(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kInvalid:
      return "invalid";
    case RefusalReason::kBusy:
      return "busy";
    case RefusalReason::kLimit:
      return "limit";
    case RefusalReason::kUnknownSession:
      return "unknown_session";
    case RefusalReason::kOutOfSequence:
      return "out_of_sequence";
    case RefusalReason::kShuttingDown:
      return "shutting_down";
    case RefusalReason::kForbidden:
      return "permission_denied";
  }
  return "";
}

void RpcStats::CountRefusal(RefusalReason reason) {
  Increment(&refused[static_cast<int>(reason)]);
}

void RpcStats::CountLimit(std::string_view limit) {
  size_t at = 0;
  while (at + 1 < kIngestLimits.size() && kIngestLimits[at] != limit) ++at;
  Increment(&limit_hits[at]);
}

void AppendSamples(const RpcStats& stats, std::vector<SelfSample>* samples) {
  const auto value = [](const auto& atomic) {
    return static_cast<double>(atomic.load(std::memory_order_relaxed));
  };
  Append(Metric::kStreams, {}, value(stats.streams), samples);
  Append(Metric::kStreamsTotal, {}, value(stats.streams_opened), samples);
  Append(Metric::kIngestMessages, {}, value(stats.messages), samples);
  Append(Metric::kIngestBytes, {}, value(stats.bytes), samples);
  for (int r = 0; r < kRefusalReasons; ++r) {
    const std::string code(Name(static_cast<RefusalReason>(r)));
    Append(Metric::kIngestRefusals, {{"code", code}}, value(stats.refused[r]),
           samples);
  }
  Append(Metric::kIngestRefusals, {{"code", "unauthenticated"}},
         value(stats.peers_refused), samples);
  for (size_t i = 0; i < kIngestLimits.size(); ++i) {
    const double hits = value(stats.limit_hits[i]);
    if (kIngestLimits[i] == "user_bytes") {
      Append(Metric::kIngestQuota, {}, hits, samples);
    }
    Append(Metric::kLimitHits, {{"limit", std::string(kIngestLimits[i])}}, hits,
           samples);
  }
}

}  // namespace nanwatch
