#include "app/reopened.h"

#include <algorithm>
#include <vector>

#include "model/incident.h"

namespace nanwatch {
namespace {

// Steps beyond the end of the attempt before: other data came in other order.
constexpr int64_t kFarther = 1000;

bool SameTrouble(const Incident& a, const Incident& b) {
  return a.rule == b.rule && a.family == b.family &&
         a.subject.op == b.subject.op &&
         a.subject.optimizer == b.subject.optimizer;
}

// The newest of `incidents` that is such a one; end(): none is.
std::vector<Incident>::iterator FindBefore(const Incident& again,
                                           std::vector<Incident>* incidents) {
  auto newest = incidents->end();
  for (auto it = incidents->begin(); it != incidents->end(); ++it) {
    if (!SameTrouble(*it, again)) continue;
    if (newest == incidents->end() || it->opened_step > newest->opened_step) {
      newest = it;
    }
  }
  return newest;
}

void Fold(const Incident& first, Incident* again) {
  again->opened_step = std::min(again->opened_step, first.opened_step);
  again->worst = std::max(again->worst, first.worst);
  again->reopened += 1 + first.reopened;
}

// A low scale that probes once in each growth interval, which may be longer
// than the time in which an incident is opened again.
bool SameProbing(const Incident& a, const Incident& b) {
  return a.family == Family::kScale && b.family == Family::kScale &&
         a.cause == b.cause && a.subject.op == b.subject.op &&
         a.subject.optimizer == b.subject.optimizer;
}

}  // namespace

void ReopenProbes(RunView* attempt) {
  std::vector<Incident>& incidents = attempt->incidents;
  std::vector<Incident> kept;
  for (Incident& again : incidents) {
    std::erase_if(kept, [&again](const Incident& first) {
      const bool same = SameProbing(first, again);
      if (same) Fold(first, &again);
      return same;
    });
    kept.push_back(std::move(again));
  }
  incidents = std::move(kept);
}

void ReopenAfterRestarts(std::span<const std::shared_ptr<RunView>> attempts) {
  for (size_t i = 1; i < attempts.size(); ++i) {
    for (Incident& again : attempts[i]->incidents) {
      const int64_t opened = again.opened_step;
      for (size_t before = i; before-- > 0;) {
        RunView& view = *attempts[before];
        const auto first = FindBefore(again, &view.incidents);
        if (first == view.incidents.end()) continue;
        if (opened <= view.last_step + kFarther) {
          Fold(*first, &again);
          view.incidents.erase(first);
        }
        break;
      }
    }
  }
}

}  // namespace nanwatch
