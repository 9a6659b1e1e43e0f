// What the trainers are asked: more detail where something is found, and to
// stop. Nothing is forced on them.

#include <algorithm>
#include <set>

#include "base/fnv1a.h"
#include "detect/all_rules.h"
#include "engine/run_state.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

constexpr uint32_t kStepsOfDetail = 16;
constexpr int64_t kExpiresAfterSteps = 64;
constexpr uint64_t kBackoffDoublings = 8;
// Op statuses older than this say nothing of now.
constexpr int64_t kFreshSteps = 16;

// The id must be the same after replay, on any machine.
uint64_t RequestId(const RunKey& run, uint64_t count) {
  Fnv1a hash;
  hash.Put(run.run_id);
  hash.Put(static_cast<uint32_t>(run.attempt));
  hash.Put(count);
  return hash.value() == 0 ? 1 : hash.value();
}

bool Explainable(const Finding& finding) {
  if (finding.severity < Severity::kWarning) return false;
  const RuleSpec* spec = FindRule(finding.rule);
  return spec != nullptr &&
         (spec->family == Family::kScale || spec->family == Family::kLoss ||
          spec->family == Family::kOp);
}

}  // namespace

bool RunState::WantsDetail(int64_t step) const {
  if (totals_.op_statuses == 0) return true;
  int64_t newest = INT64_MIN;
  for (const auto& rank : ranks_) newest = std::max(newest, rank->last_op_step);
  if (newest < step - kFreshSteps) return true;
  if (ledger_.empty()) return false;
  const std::vector<OpEvidence> ops =
      ledger_.Evidence([](int32_t) { return int64_t{0}; });
  const OpEvidence& first = ops.front();
  return first.flag_only == first.bad_statuses ||
         (!first.first_inputs_clean && !first.first_inputs_bad);
}

std::vector<const RankState*> RunState::WhomToAsk(int32_t origin) const {
  std::vector<const RankState*> whom;
  const RankState* first = FindRank(origin);
  if (first == nullptr || first->life != LifeState::kOpen) {
    const auto open =
        std::find_if(ranks_.begin(), ranks_.end(),
                     [](const auto& r) { return r->life == LifeState::kOpen; });
    if (open == ranks_.end()) return whom;
    first = open->get();
  }
  whom.push_back(first);
  std::set<AgreementGroup> asked;
  for (const auto& rank : ranks_) {
    if (whom.size() >= static_cast<size_t>(limits::kRequestRanks)) break;
    if (rank->life != LifeState::kOpen || rank.get() == first ||
        asked.contains(rank->description.group()) ||
        !board_.KeysOf(rank->description.rank).empty()) {
      continue;
    }
    asked.insert(rank->description.group());
    whom.push_back(rank.get());
  }
  return whom;
}

// The suspects and their neighbours in the order of execution, then a sample.
// Empty: all, or what the trainer knows itself.
std::vector<uint32_t> RunState::OpsToAsk(const RankState& rank) const {
  const auto names = static_cast<uint32_t>(rank.ops.names());
  constexpr uint32_t kMost = limits::kRequestOps;
  if (names <= kMost) return {};
  std::set<uint32_t> ops;
  for (uint32_t op = 0; op < names && ops.size() + 3 <= kMost; ++op) {
    bool listed = false;
    for (int slot = 0; slot < kSlots; ++slot) {
      listed |= ledger_.Lists(NameOf(rank, op), static_cast<Slot>(slot));
    }
    if (!listed) continue;
    if (op > 0) ops.insert(op - 1);
    ops.insert(op);
    if (op + 1 < names) ops.insert(op + 1);
  }
  const auto room = kMost - static_cast<uint32_t>(ops.size());
  for (uint32_t i = 0; i < room; ++i) {
    ops.insert(static_cast<uint32_t>(uint64_t{i} * names / room));
  }
  return {ops.begin(), ops.end()};
}

void RunState::Ask(const Finding& opened, int64_t step, Effects* effects) {
  if (!Explainable(opened) || step == INT64_MIN) return;
  if (asked_.id != 0 && step > asked_.expires_at_step) asked_.id = 0;
  if (asked_.id != 0 || step < asked_.not_before_step || !WantsDetail(step)) {
    return;
  }
  const auto whom = WhomToAsk(opened.subject.rank);
  if (whom.empty()) return;
  asked_.id = RequestId(key_, asked_.count);
  asked_.expires_at_step = step + kExpiresAfterSteps;
  asked_.not_before_step = step + (kExpiresAfterSteps << std::min<uint64_t>(
                                       ++asked_.count, kBackoffDoublings));
  for (const RankState* rank : whom) {
    Request request;
    request.id = asked_.id;
    request.session = rank->session;
    request.kind = Request::Kind::kCollectOps;
    request.ops = OpsToAsk(*rank);
    request.steps = kStepsOfDetail;
    request.expires_at_step = asked_.expires_at_step;
    effects->requests.push_back(std::move(request));
  }
}

// As a person would have: the run shows it, and ranks that open later hear it.
void RunState::StopOn(const Incident& incident, Effects* effects) {
  const Severity from = shared_->options.stop_on;
  if (from == Severity::kNone || asked_.stop || closed() ||
      incident.state != AlertState::kFiring || incident.severity < from) {
    return;
  }
  asked_.stop = true;
  if (stop_requested_) return;  // a person was quicker
  AskToStop(incident.summary + " (engine.stop_on)", effects);
}

void RunState::AskToStop(const std::string& reason, Effects* effects) {
  stop_requested_ = reason;
  asked_.stop_id = RequestId(key_, asked_.count++);
  for (const auto& rank : ranks_) {
    if (rank->life == LifeState::kOpen) RemindToStop(*rank, effects);
  }
}

void RunState::RemindToStop(const RankState& rank, Effects* effects) const {
  if (auto request = StopFor(rank)) {
    effects->requests.push_back(*std::move(request));
  }
}

std::optional<Request> RunState::StopFor(const RankState& rank) const {
  if (!stop_requested_ || closed()) return std::nullopt;
  Request request;
  request.id = asked_.stop_id;
  request.session = rank.session;
  request.kind = Request::Kind::kStop;
  request.expires_at_step = INT64_MAX;
  request.reason = *stop_requested_;
  return request;
}

}  // namespace nanwatch
