// Registry: which runs are held, and where each session belongs.

#ifndef NANWATCH_ENGINE_REGISTRY_H_
#define NANWATCH_ENGINE_REGISTRY_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/run_state.h"

namespace nanwatch {

// Where a session's records go.
struct SessionEntry {
  RunState* run = nullptr;
  RankState* rank = nullptr;
  uint64_t order = 0;  // of its opening
};

class Registry {
 public:
  explicit Registry(EngineShared* shared) : shared_(shared) {}

  // Returns the run; null where it is not held.
  RunState* FindRun(const RunKey& key) const;
  const SessionEntry* FindSession(SessionId session) const;
  // Returns the newest attempt heard of, held or not; nullopt where there is
  // none, or so many others were heard of since that it is forgotten
  // (limits::kRunIds).
  std::optional<int32_t> LatestAttempt(const std::string& run_id) const;
  // Returns whose the newest attempt is that has an owner; empty: not known.
  std::string_view OwnerOf(const std::string& run_id) const;
  void Know(const RunKey& key, std::string_view owner);
  // Returns held runs of the same id with smaller attempts.
  std::vector<const RunState*> AttemptsBefore(const RunKey& key) const;

  // Returns the run; made when it is not held.
  RunState* MakeRun(const RunKey& key);
  // Loads a run from a checkpoint, in place of what was held. Null where it is
  // not readable, and nothing changed.
  RunState* LoadRun(const RunKey& key, std::string_view state);
  void RemoveRun(RunState* run);
  // Sends the session's records there from here on, and no other session's.
  void Bind(SessionId session, RunState* run, RankState* rank);

  size_t runs() const { return by_key_.size(); }
  const Holdings& held() const { return shared_->all; }
  // Of all runs of `owner`.
  Holdings HeldBy(std::string_view owner) const;
  // Returns the oldest attempt before this one that ended, where so many are
  // held that it has to go; null: none has.
  RunState* ToGoFor(const RunKey& key) const;
  RunState* at(uint32_t slot) const { return slots_[slot].get(); }
  // Returns them by opening.
  std::vector<SessionId> OpenSessions() const;
  // Returns them in the order they were made.
  std::vector<RunState*> Runs() const;

 private:
  struct Known {
    int32_t latest = 0;  // attempt
    uint64_t heard = 0;  // when, by count_
    std::string owner = {};
  };

  uint32_t FreeSlot();
  void ForgetOldIds();
  void BindAll(RunState* run);
  void UnbindAll(const RunState& run);

  EngineShared* const shared_;
  std::vector<std::unique_ptr<RunState>> slots_;
  std::vector<uint64_t> made_;  // by slot: order of making
  std::vector<uint32_t> free_;
  std::map<RunKey, uint32_t> by_key_;
  std::map<std::string, Known> known_;  // at most limits::kRunIds
  // Looked up, and walked only to be sorted.
  std::unordered_map<SessionId, SessionEntry> sessions_;
  uint64_t count_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_REGISTRY_H_
