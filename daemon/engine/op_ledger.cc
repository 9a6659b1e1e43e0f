#include "engine/op_ledger.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "diagnose/op_facts.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

auto Order(const OpEvidence& e) {
  return std::tie(e.first_bad_step, e.first_bad_order, e.rank, e.op.name,
                  e.slot);
}

uint64_t Infinities(const OpStatus& status) {
  return status.get(OpCount::kPosInf).value_or(0) +
         status.get(OpCount::kNegInf).value_or(0);
}

// True when `*most` rose into another power of two: less is no news.
bool Raise(uint64_t value, uint64_t* most) {
  if (value <= *most) return false;
  const bool news = std::bit_width(value) != std::bit_width(*most);
  *most = value;
  return news;
}

}  // namespace

bool OpLedger::OnRank::Note(bool harmed) {
  const OpOutcomes before = NewestOutcomes();
  ++(harmed ? outcomes.harmed : outcomes.fine);
  newest = newest << 1 | static_cast<uint64_t>(harmed);
  const OpOutcomes now = NewestOutcomes();
  const auto turns = [&](uint64_t times) {
    return now.AreFine(times) != before.AreFine(times);
  };
  return now.harmed >= OpOutcomes::kSeveral && (turns(2) || turns(8));
}

OpOutcomes OpLedger::OnRank::NewestOutcomes() const {
  const auto harmed = static_cast<uint64_t>(std::popcount(newest));
  const uint64_t all = outcomes.fine + outcomes.harmed;
  return {std::min<uint64_t>(all, kNewest) - harmed, harmed};
}

void OpLedger::StepCount::Add(int64_t step) {
  if (seen == 0) newest = step;
  if (step > newest) {
    seen = step - newest < kNewest ? seen << (step - newest) : 0;
    newest = step;
  }
  if (newest - step >= kNewest) return;  // counted, likely
  const uint64_t bit = uint64_t{1} << (newest - step);
  count += (seen & bit) == 0;
  seen |= bit;
}

OpLedger::Entry* OpLedger::Find(const OpName& name, Slot slot) {
  for (Entry& entry : entries_) {
    if (entry.evidence.slot == slot && entry.evidence.op.name == name.name) {
      return &entry;
    }
  }
  return nullptr;
}

bool OpLedger::Lists(const OpName& name, Slot slot) const {
  return const_cast<OpLedger*>(this)->Find(name, slot) != nullptr;
}

bool OpLedger::full() const {
  return entries_.size() >= static_cast<size_t>(limits::kOpEvidence);
}

// A scaler that finds its scale makes all gradients overflow, and a model may
// have more of them than there are places here.
bool OpLedger::MakeRoom(const OpEvidence& e) {
  const auto gives_way = [&](const OpEvidence& held) {
    // What was applied may be why others are bad now.
    if (held.first_kept_step >= 0) return false;
    const bool over = e.last_bad_step - held.last_bad_step > kRecentSteps;
    return over || (IsGradient(held) && IsForward(e));
  };
  const auto last = std::max_element(
      entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
        return std::tuple(gives_way(a.evidence), Order(a.evidence)) <
               std::tuple(gives_way(b.evidence), Order(b.evidence));
      });
  if (!gives_way(last->evidence) && !(Order(e) < Order(last->evidence))) {
    return false;
  }
  entries_.erase(last);
  return true;
}

OpLedger::Entry* OpLedger::Make(const PendingOp& op, const OpName& name,
                                int32_t rank) {
  Entry entry;
  OpEvidence& e = entry.evidence;
  e.op = name;
  e.slot = op.status.slot;
  e.rank = rank;
  e.first_bad_step = e.last_bad_step = op.status.step;
  e.first_bad_order = name.order;
  e.first_inputs_clean = op.inputs == InputState::kClean;
  e.first_inputs_bad = op.inputs == InputState::kBad;
  e.padding = PaddingElements(name);
  if (full() && !MakeRoom(e)) return nullptr;
  return &entries_.emplace_back(std::move(entry));
}

bool OpLedger::Add(const PendingOp& op, const OpName& name, int32_t rank,
                   const OpUpdate& update, bool saturation) {
  Entry* entry = Find(name, op.status.slot);
  // Clean statuses count only on ranks where the op was bad: what others said
  // before it was listed was not looked at.
  if (!op.bad && (entry == nullptr || !entry->ranks.contains(rank))) {
    return false;
  }
  const bool fresh = entry == nullptr;
  if (fresh) entry = Make(op, name, rank);
  if (entry == nullptr) return false;
  OpEvidence& e = entry->evidence;
  bool news = fresh;
  const uint64_t logical = Elements(name.logical_shape);
  // In saturation mode a status without that count says nothing when clean.
  const bool counted =
      !saturation || op.status.get(OpCount::kSaturated).has_value();
  if (logical > 0 && op.status.elements == logical && e.padding > 0 &&
      counted) {
    news |= ++e.logical_statuses == 1;
    if (op.status.BadElements(saturation) > 0) news |= ++e.logical_bad == 1;
  }
  if (const auto abs_max = op.status.get(OpStat::kAbsMax)) {
    entry->abs_max = abs_max;
  }
  if (!op.bad) {
    ++e.clean_statuses;
    return news;
  }
  OnRank& on = entry->ranks[rank];
  if (on.last_update < 0) on.first_update = update.number;
  if (on.last_update != update.number) {
    ++on.bad_updates;
    const bool fine = update.outcome == OpUpdate::Outcome::kFine;
    if (fine) entry->fine_steps.Add(op.status.step);
    if (update.outcome != OpUpdate::Outcome::kNotTold) {
      news |= on.Note(!fine);
    }
  }
  on.last_update = update.number;
  on.last_step = std::max(on.last_step, op.status.step);
  return AddBad(op, name, rank, update, entry) || news;
}

bool OpLedger::AddBad(const PendingOp& op, const OpName& name, int32_t rank,
                      const OpUpdate& update, Entry* entry) {
  OpEvidence& e = entry->evidence;
  const OpStatus& status = op.status;
  // Ranks come in any order: the first is the one of the earliest step, then
  // the lowest.
  if (std::tie(status.step, rank) < std::tie(e.first_bad_step, e.rank)) {
    e.rank = rank;
    e.first_bad_step = status.step;
    e.first_bad_order = name.order;
    e.first_inputs_clean = op.inputs == InputState::kClean;
    e.first_inputs_bad = op.inputs == InputState::kBad;
  }
  if (std::tie(status.step, rank) >=
      std::tie(e.last_bad_step, entry->newest_rank)) {
    entry->newest_rank = rank;
    entry->newest_bad = op.bad_elements;
  }
  e.last_bad_step = std::max(e.last_bad_step, status.step);
  bool news = ++e.bad_statuses == 3;
  if (!update.lost &&
      (e.first_kept_step < 0 || status.step < e.first_kept_step)) {
    news |= e.first_kept_step < 0;
    e.first_kept_step = status.step;
    e.kept_nan = 0;
  }
  if (!update.lost && status.step == e.first_kept_step) {
    e.kept_nan = std::max(e.kept_nan, status.get(OpCount::kNan).value_or(0));
  }
  news |= Raise(status.get(OpCount::kNan).value_or(0), &e.nan);
  const uint64_t inf = Infinities(status);
  const uint64_t saturated = status.get(OpCount::kSaturated).value_or(0);
  news |= Raise(inf, &e.inf);
  news |= Raise(saturated, &e.saturated);
  if (inf + saturated > 0) {
    e.last_beyond_step = std::max(e.last_beyond_step, status.step);
  }
  const bool within = e.bad_elements_max <= e.padding;
  news |= Raise(op.bad_elements, &e.bad_elements_max);
  news |= within && e.bad_elements_max > e.padding;
  if (op.bad_elements == 0) news |= ++e.flag_only == 1;
  if (const std::optional<double> scale = update.scale) {
    e.scale_min = std::min(e.scale_min.value_or(*scale), *scale);
    e.scale_max = std::max(e.scale_max.value_or(*scale), *scale);
  }
  return news;
}

std::vector<const OpLedger::Entry*> OpLedger::InOrder() const {
  std::vector<const Entry*> all;
  for (const Entry& entry : entries_) all.push_back(&entry);
  std::sort(all.begin(), all.end(), [](const Entry* a, const Entry* b) {
    return Order(a->evidence) < Order(b->evidence);
  });
  return all;
}

std::vector<OpView> OpLedger::Top(std::span<const CauseVerdict> causes) const {
  std::vector<const Entry*> ordered = InOrder();
  auto rest = ordered.begin();
  for (const CauseVerdict& cause : causes) {
    rest = std::stable_partition(rest, ordered.end(), [&](const Entry* entry) {
      return IsOf(entry->evidence, cause.origin);
    });
  }
  if (ordered.size() > static_cast<size_t>(limits::kTopOps)) {
    ordered.resize(limits::kTopOps);
  }
  std::vector<OpView> top;
  for (const Entry* entry : ordered) {
    const OpEvidence& e = entry->evidence;
    OpView& view = top.emplace_back();
    view.name = e.op.name;
    view.type = e.op.type;
    view.bad_statuses = e.bad_statuses;
    view.bad_elements = entry->newest_bad;
    view.first_bad_step = e.first_bad_step;
    view.last_bad_step = e.last_bad_step;
    view.rank = entry->newest_rank;
    view.slot = e.slot;
    view.abs_max = entry->abs_max;
    view.padding = e.padding;
  }
  return top;
}

}  // namespace nanwatch
