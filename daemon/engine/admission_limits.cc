// What does not fit into the budgets of the daemon, or of a user.

#include <string>
#include <string_view>

#include "engine/admission.h"
#include "engine/admission_parts.h"
#include "engine/registry.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

std::string Megabytes(size_t bytes) {
  return std::to_string(bytes >> 20) + " MB";
}

RefusedMessage Beyond(std::string message, std::string limit) {
  return {.reason = RefusalReason::kLimit,
          .message = std::move(message),
          .limit = std::move(limit)};
}

std::string CannotOpen(const RunKey& key) {
  return "cannot open " + NameOf(key) + ": ";
}

// "user ann has 12 runs, as much as is allowed (quotas.runs): ".
std::string HasEnough(std::string_view owner, const std::string& what,
                      std::string_view key) {
  return QuotaHolder(owner) + " has " + what + ", as much as is allowed (" +
         std::string(key) + "): ";
}

}  // namespace

std::optional<RefusedMessage> Admission::TooManyRuns(
    const RunKey& key, std::string_view owner) const {
  // Another attempt of its own goes for it.
  if (registry_.ToGoFor({key.run_id, limits::kAttemptMax}) != nullptr) {
    return std::nullopt;
  }
  if (registry_.held().runs >= limits::kRuns) {
    return Beyond(CannotOpen(key) + "the daemon holds " +
                      std::to_string(limits::kRuns) +
                      " runs; close some, or start another daemon",
                  "runs");
  }
  const size_t most = quotas_.Of(owner).runs;
  if (registry_.HeldBy(owner).runs < most) return std::nullopt;
  return Beyond(
      CannotOpen(key) +
          HasEnough(owner, std::to_string(most) + " runs", "quotas.runs") +
          "close some; they leave some minutes later",
      "user_runs");
}

std::optional<RefusedMessage> Admission::TooMany(
    const RunKey& key, const OpenSessionMessage& message,
    std::string_view owner) const {
  const RunState* run = registry_.FindRun(key);
  if (run == nullptr) {
    if (auto refused = TooManyRuns(key, owner)) return refused;
  }
  const Holdings& all = registry_.held();
  const Holdings own = registry_.HeldBy(owner);
  const size_t bytes = BytesHeldFor(message.run) + BytesHeldFor(message.rank);
  const std::string shorter =
      "give fewer and shorter settings, or close some runs";
  if (all.run_bytes + bytes > limits::kRunBytes) {
    return Beyond(CannotOpen(key) + "what runs say of themselves takes " +
                      Megabytes(limits::kRunBytes) + " already; " + shorter,
                  "run_bytes");
  }
  const Quotas& quotas = quotas_.Of(owner);
  if (own.run_bytes + bytes > quotas.run_bytes) {
    return Beyond(CannotOpen(key) + "what the runs of " + QuotaHolder(owner) +
                      " say of themselves takes " +
                      Megabytes(quotas.run_bytes) + " already; " + shorter,
                  "user_run_bytes");
  }
  if (run != nullptr && run->FindRank(message.rank.rank) != nullptr) {
    return std::nullopt;
  }
  const std::string what = "cannot open rank " +
                           std::to_string(message.rank.rank) + " of " +
                           NameOf(key) + ": ";
  if (all.ranks >= limits::kRanks) {
    return Beyond(what + "the daemon holds " + std::to_string(limits::kRanks) +
                      " ranks; report from fewer, or start another daemon",
                  "ranks");
  }
  if (own.ranks < quotas.sessions) return std::nullopt;
  return Beyond(what +
                    HasEnough(owner, std::to_string(quotas.sessions) + " ranks",
                              "quotas.sessions") +
                    "report from fewer, or close some",
                "user_sessions");
}

std::optional<RefusedMessage> Admission::TooManyOps(const RankState& rank,
                                                    const OpNames& names,
                                                    const RunState& run) const {
  const std::string what = "rank " + std::to_string(rank.description.rank) +
                           " of " + NameOf(run.key()) + " names more ";
  if (names.first_index + names.ops.size() > limits::kOpsPerSession) {
    return Beyond(what + "than " + std::to_string(limits::kOpsPerSession) +
                      " ops: report a sample of them",
                  "ops_per_session");
  }
  size_t bytes = 0;
  for (size_t i = rank.ops.names() - names.first_index; i < names.ops.size();
       ++i) {
    bytes += BytesHeldFor(names.ops[i]) + limits::kRankOpBytes;
  }
  if (bytes == 0) return std::nullopt;
  if (registry_.held().op_bytes + bytes > limits::kOpBytes) {
    return Beyond(what + "ops than the daemon has room for (" +
                      Megabytes(limits::kOpBytes) +
                      " over all runs): report a sample of them",
                  "op_bytes");
  }
  const std::string& owner = run.description().owner;
  const size_t most = quotas_.Of(owner).op_bytes;
  if (registry_.HeldBy(owner).op_bytes + bytes <= most) return std::nullopt;
  return Beyond(what + "ops than " + QuotaHolder(owner) + " has room for (" +
                    Megabytes(most) +
                    " over all runs, quotas.op_bytes): report a sample of "
                    "them, or close some runs",
                "user_op_bytes");
}

}  // namespace nanwatch
