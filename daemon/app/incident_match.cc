#include "app/incident_match.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace nanwatch {
namespace {

enum class Likeness : uint8_t { kRule, kSubject, kFamily, kNone };

int64_t End(const Incident& incident) {
  return incident.resolved_step.value_or(std::numeric_limits<int64_t>::max() -
                                         kSameTrouble);
}

bool Meet(const Incident& a, const Incident& b) {
  return a.opened_step <= End(b) + kSameTrouble &&
         b.opened_step <= End(a) + kSameTrouble;
}

Likeness LikenessOf(const ToldIncident& a, const ToldIncident& b) {
  if (a.run != b.run || a.incident.family != b.incident.family ||
      !Meet(a.incident, b.incident)) {
    return Likeness::kNone;
  }
  if (a.incident.subject != b.incident.subject) return Likeness::kFamily;
  return a.incident.rule == b.incident.rule ? Likeness::kRule
                                            : Likeness::kSubject;
}

// A pair that may be made: the most alike first, then the nearest.
struct Candidate {
  Likeness likeness;
  uint64_t apart;
  size_t before;
  size_t after;
  auto Order() const { return std::tuple(likeness, apart, before, after); }
};

std::vector<Candidate> Candidates(std::span<const ToldIncident> before,
                                  std::span<const ToldIncident> after) {
  std::vector<Candidate> all;
  for (size_t i = 0; i < before.size(); ++i) {
    for (size_t k = 0; k < after.size(); ++k) {
      const Likeness likeness = LikenessOf(before[i], after[k]);
      if (likeness == Likeness::kNone) continue;
      const int64_t apart =
          before[i].incident.opened_step - after[k].incident.opened_step;
      all.push_back({likeness, static_cast<uint64_t>(std::llabs(apart)), i, k});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.Order() < b.Order(); });
  return all;
}

const ToldIncident& ShownOf(const IncidentPair& pair) {
  return pair.before != nullptr ? *pair.before : *pair.after;
}

}  // namespace

std::vector<IncidentPair> MatchIncidents(std::span<const ToldIncident> before,
                                         std::span<const ToldIncident> after) {
  std::vector<IncidentPair> pairs;
  std::vector<bool> before_taken(before.size());
  std::vector<bool> after_taken(after.size());
  for (const Candidate& c : Candidates(before, after)) {
    if (before_taken[c.before] || after_taken[c.after]) continue;
    before_taken[c.before] = after_taken[c.after] = true;
    pairs.push_back({&before[c.before], &after[c.after]});
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (!before_taken[i]) pairs.push_back({&before[i], nullptr});
  }
  for (size_t i = 0; i < after.size(); ++i) {
    if (!after_taken[i]) pairs.push_back({nullptr, &after[i]});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const IncidentPair& a, const IncidentPair& b) {
                     const ToldIncident& x = ShownOf(a);
                     const ToldIncident& y = ShownOf(b);
                     return std::tie(x.run, x.incident.opened_step) <
                            std::tie(y.run, y.incident.opened_step);
                   });
  return pairs;
}

}  // namespace nanwatch
