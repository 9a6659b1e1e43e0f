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

}  // namespace

void ReopenAfterRestarts(std::span<const std::shared_ptr<RunView>> attempts) {
  for (size_t i = 1; i < attempts.size(); ++i) {
    for (Incident& again : attempts[i]->incidents) {
      const int64_t opened = again.opened_step;
      for (size_t before = i; before-- > 0;) {
        RunView& view = *attempts[before];
        const auto first = FindBefore(again, &view.incidents);
        if (first == view.incidents.end()) continue;
        if (opened <= view.last_step + kFarther) {
          again.opened_step = std::min(opened, first->opened_step);
          again.worst = std::max(again.worst, first->worst);
          again.reopened += 1 + first->reopened;
          view.incidents.erase(first);
        }
        break;
      }
    }
  }
}

}  // namespace nanwatch
