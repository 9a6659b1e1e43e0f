#include "model/snapshot.h"

#include <algorithm>
#include <set>

namespace nanwatch {

std::string_view Name(LifeState state) {
  switch (state) {
    case LifeState::kOpen:
      return "open";
    case LifeState::kLost:
      return "lost";
    case LifeState::kClosed:
      return "closed";
  }
  return "open";
}

namespace {

bool ProgramGaveUp(const RunView& run) {
  return run.records_ended && run.records_ended->gave_up;
}

// Returns true where the run recovered by itself from all that it had.
bool IsOver(const RunView& run) {
  return run.diagnosis.condition == Condition::kHealed && !ProgramGaveUp(run);
}

}  // namespace

Severity WorstEver(const RunView& run) {
  Severity worst = ProgramGaveUp(run) ? Severity::kCritical : run.severity;
  for (const Incident& incident : run.incidents) {
    if (incident.part || incident.fired == Time{}) continue;
    worst = std::max(worst, incident.worst);
  }
  return worst;
}

Severity WorstOf(const std::vector<std::shared_ptr<const RunView>>& attempts) {
  // What an attempt must have of another one's updates to stand for it; ours.
  constexpr uint64_t kLeast = 16;
  constexpr uint64_t kPart = 4;
  Severity worst = Severity::kNone;
  uint64_t sound = 0;  // updates of the longest healthy one that follows
  for (auto it = attempts.rbegin(); it != attempts.rend(); ++it) {
    const RunView& attempt = **it;
    const bool left = sound >= std::max(kLeast, attempt.updates / kPart);
    Severity own = WorstEver(attempt);
    if (left || IsOver(attempt)) own = std::min(own, Severity::kWarning);
    worst = std::max(worst, own);
    if (own < Severity::kWarning && IsHealthy(attempt.diagnosis.condition)) {
      sound = std::max(sound, attempt.updates);
    }
  }
  return worst;
}

std::optional<bool> JudgedToEnd(const RunView& run) {
  if (run.state == LifeState::kOpen) return std::nullopt;
  return run.records_ended.has_value();
}

std::vector<std::shared_ptr<const RunView>> EachTroubleOnce(
    const std::vector<std::shared_ptr<const RunView>>& attempts) {
  std::set<uint64_t> repeated;
  for (const auto& attempt : attempts) {
    for (const Incident& incident : attempt->incidents) {
      if (incident.repeats != 0) repeated.insert(incident.repeats);
    }
  }
  std::vector<std::shared_ptr<const RunView>> once;
  for (const auto& attempt : attempts) {
    auto view = std::make_shared<RunView>(*attempt);
    std::erase_if(view->incidents, [&](const Incident& incident) {
      return incident.part || repeated.contains(incident.id);
    });
    once.push_back(std::move(view));
  }
  return once;
}

std::shared_ptr<const RunView> RunTable::at(size_t slot) const {
  if (slot >= size_) return nullptr;
  const auto& book = books_[slot / (kPage * kPage)];
  if (!book) return nullptr;
  const auto& page = (*book)[slot / kPage % kPage];
  return page ? (*page)[slot % kPage] : nullptr;
}

void RunTable::Set(size_t slot, std::shared_ptr<const RunView> view) {
  const size_t b = slot / (kPage * kPage);
  if (b >= books_.size()) books_.resize(b + 1);
  auto book =
      books_[b] ? std::make_shared<Book>(*books_[b]) : std::make_shared<Book>();
  auto& old_page = (*book)[slot / kPage % kPage];
  auto page =
      old_page ? std::make_shared<Page>(*old_page) : std::make_shared<Page>();
  (*page)[slot % kPage] = std::move(view);
  old_page = std::move(page);
  books_[b] = std::move(book);
  size_ = std::max(size_, slot + 1);
}

std::shared_ptr<const RunView> Snapshot::Find(
    std::string_view run_id, std::optional<int32_t> attempt) const {
  std::shared_ptr<const RunView> found;
  for (size_t slot = 0; slot < runs.size(); ++slot) {
    auto view = runs.at(slot);
    if (!view || view->key.run_id != run_id) continue;
    if (attempt ? view->key.attempt == *attempt
                : !found || view->key.attempt > found->key.attempt) {
      found = std::move(view);
    }
  }
  return found;
}

}  // namespace nanwatch
