#include "diagnose/rank.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace nanwatch {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

size_t FirstThatExplains(const std::vector<Match>& causes,
                         const Finding& finding) {
  for (size_t i = 0; i < causes.size(); ++i) {
    if (Explains(causes[i].verdict, finding)) return i;
  }
  return kNone;
}

bool ExplainsAny(const Facts& f, const CauseVerdict& cause) {
  return f.found.HasAny(cause.rules) &&
         f.found.Any(
             [&](const Finding& finding) { return Explains(cause, finding); });
}

// True for what is worth a word. What is over and established is, too: a
// poisoned batch is worth knowing after the scaler has skipped it. That the
// loss was not finite is, also where it is not known which op began it.
bool IsWorthTelling(const Facts& f, const CauseVerdict& cause) {
  const bool nan_loss = (cause.cause == Cause::kNanFromForward ||
                         cause.cause == Cause::kNanFromBackward) &&
                        f.evidence.loss_nonfinite > 0;
  return nan_loss || cause.grade == EvidenceGrade::kEstablished ||
         ExplainsAny(f, cause);
}

bool Overlap(const Facts& f, const CauseVerdict& a, const CauseVerdict& b) {
  return f.found.HasAny(a.rules & b.rules) &&
         f.found.Any([&](const Finding& finding) {
           return Explains(a, finding) && Explains(b, finding);
         });
}

// Adds what is found and no cause explains. It says so, rather than guess.
void AddUnexplained(const Facts& f, std::vector<Match>* causes) {
  Match rest;
  CauseVerdict& verdict = rest.verdict;
  for (const Finding& finding : f.found) {
    if (FirstThatExplains(*causes, finding) != kNone) continue;
    verdict.rules.Add(finding.rule);
    if (rest.finding == nullptr || finding.severity > rest.finding->severity) {
      rest.finding = &finding;
    }
  }
  if (rest.finding == nullptr) return;
  verdict.cause = Cause::kUnexplained;
  verdict.grade = EvidenceGrade::kHypothesis;
  verdict.origin = rest.finding->subject;
  verdict.step = rest.finding->opened_step;
  causes->push_back(std::move(rest));
}

// Puts a training that ran away before what began after it and shares findings
// with it. Returns its place; kNone where none ran away, or something led to
// it.
size_t PutRunawayFirst(const Facts& f, std::vector<Match>* causes) {
  const auto away =
      std::find_if(causes->begin(), causes->end(), [](const Match& match) {
        return match.verdict.cause == Cause::kDivergence &&
               match.verdict.grade > EvidenceGrade::kHypothesis;
      });
  if (!f.ran_away || away == causes->end()) return kNone;
  auto first = away;
  for (auto it = causes->begin(); it != causes->end(); ++it) {
    const CauseVerdict& other = it->verdict;
    if (it == away || !Overlap(f, other, away->verdict)) continue;
    // No training makes a device flip a bit, or a program leave out a call.
    const bool own = other.cause == Cause::kSilentCorruption ||
                     (other.cause == Cause::kUpdateMadeWrong &&
                      !f.after_the_loss.has(RuleId::kUpdateFault));
    if (own || other.step <= f.ran_away->from) return kNone;
    first = std::min(first, it);
  }
  std::rotate(first, away, away + 1);
  return static_cast<size_t>(first - causes->begin());
}

// Drops a cause that says nothing new: established ones before it explain all
// that it explains, or it came of a training that ran away, `away`.
void DropEchoes(const Facts& f, size_t away, std::vector<Match>* causes) {
  const auto is_echo = [&](size_t i) {
    const CauseVerdict& verdict = (*causes)[i].verdict;
    const bool after = away < i && verdict.step > f.ran_away->from;
    bool explains = after && verdict.step <= f.ran_away->until &&
                    !ExplainsAny(f, verdict) &&
                    !(verdict.rules & (*causes)[away].verdict.rules).empty();
    for (const Finding& finding : f.found) {
      if (!Explains(verdict, finding)) continue;
      explains = true;
      const size_t owner = FirstThatExplains(*causes, finding);
      const bool sure =
          (*causes)[owner].verdict.grade == EvidenceGrade::kEstablished ||
          (after && owner == away);
      if (owner == i || !sure) return false;
    }
    return explains;
  };
  std::vector<bool> echoes;
  for (size_t i = 0; i < causes->size(); ++i) echoes.push_back(is_echo(i));
  size_t i = 0;
  std::erase_if(*causes, [&](const Match&) { return echoes[i++]; });
}

// Returns the weight of each cause: the worst finding that it, and none before
// it, explains. Causes of what is found now weigh more than those of what is
// over. That a program broke off may be what they led to.
std::vector<int> Weights(const Facts& f, const std::vector<Match>& causes) {
  std::vector<Severity> worst(causes.size(), Severity::kNone);
  for (const Finding& finding : f.found) {
    const size_t owner = FirstThatExplains(causes, finding);
    if (owner == kNone) continue;
    const Severity most =
        &finding == f.broken_off ? Severity::kInfo : Severity::kCritical;
    worst[owner] = std::max(
        worst[owner], std::min(most, Capped(causes[owner].verdict, finding)));
  }
  std::vector<int> weights;
  for (size_t i = 0; i < causes.size(); ++i) {
    const bool now = worst[i] != Severity::kNone;
    weights.push_back(now ? static_cast<int>(Severity::kCritical) +
                                static_cast<int>(worst[i])
                          : static_cast<int>(causes[i].verdict.ceiling));
  }
  return weights;
}

// Puts the worst first, but no cause before one that is better established and
// explains a finding of its own: who explains what stays as it is.
void PutWorstFirst(const Facts& f, std::vector<Match>* causes) {
  std::vector<int> weights = Weights(f, *causes);
  for (size_t i = 1; i < causes->size(); ++i) {
    for (size_t j = i;
         j > 0 && weights[j] > weights[j - 1] &&
         !Overlap(f, (*causes)[j].verdict, (*causes)[j - 1].verdict);
         --j) {
      std::swap((*causes)[j], (*causes)[j - 1]);
      std::swap(weights[j], weights[j - 1]);
    }
  }
}

bool IsFirstOfAny(const Facts& f, const std::vector<Match>& causes, size_t i) {
  return f.found.Any([&](const Finding& finding) {
    return FirstThatExplains(causes, finding) == i;
  });
}

// Returns a cause that no finding supports any more.
Match Memory(const RunEvidence& e) {
  Match memory;
  memory.verdict.cause = *e.earlier_cause;
  memory.verdict.grade = EvidenceGrade::kSupported;
  memory.verdict.ceiling = Severity::kInfo;
  memory.verdict.step = e.earlier_from;
  return memory;
}

Severity UnderCeiling(const std::vector<Match>& causes,
                      const Finding& finding) {
  const size_t owner = FirstThatExplains(causes, finding);
  return owner == kNone ? finding.severity
                        : Capped(causes[owner].verdict, finding);
}

// Puts what was first, with what spares it the next run, where nothing is found
// now that is worse than a note.
void PutEarlierFirst(const Facts& f, Ranked* ranked) {
  const RunEvidence& e = f.evidence;
  std::vector<Match>& causes = ranked->causes;
  if (e.earlier.empty() || !e.earlier_cause || IsKnownBetter(f, causes)) return;
  for (const Finding& finding : f.found) {
    if (UnderCeiling(causes, finding) > Severity::kInfo) return;
  }
  const auto known =
      std::find_if(causes.begin(), causes.end(), [&](const Match& match) {
        return match.verdict.cause == *e.earlier_cause;
      });
  if (known == causes.end()) {
    causes.insert(causes.begin(), Memory(e));
    ranked->first_is_memory = true;
    return;
  }
  const bool overlaps =
      std::any_of(causes.begin(), known, [&](const Match& before) {
        return Overlap(f, before.verdict, known->verdict);
      });
  if (overlaps) {  // who explains what stays as it is
    const auto i = static_cast<size_t>(known - causes.begin());
    if (IsFirstOfAny(f, causes, i)) return;
    known->verdict.rules = {};
  }
  std::rotate(causes.begin(), known, known + 1);
}

}  // namespace

bool IsKnownBetter(const Facts& f, const std::vector<Match>& causes) {
  const RunEvidence& e = f.evidence;
  if (e.earlier_to >= 0 || !f.found.has(e.earlier_rule)) return false;
  return f.found.Any([&](const Finding& finding) {
    if (finding.rule != e.earlier_rule) return false;
    const size_t owner = FirstThatExplains(causes, finding);
    return owner != kNone &&
           causes[owner].verdict.grade == EvidenceGrade::kEstablished &&
           causes[owner].verdict.cause != e.earlier_cause;
  });
}

Ranked Rank(const Facts& f, Matches* matches) {
  Ranked ranked;
  std::vector<Match>& causes = ranked.causes;
  for (std::optional<Match>& match : *matches) {
    if (match && IsWorthTelling(f, match->verdict)) {
      causes.push_back(*std::move(match));
    }
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Match& a, const Match& b) {
                     return a.verdict.grade > b.verdict.grade;
                   });
  const size_t away = PutRunawayFirst(f, &causes);
  AddUnexplained(f, &causes);
  DropEchoes(f, away, &causes);
  PutWorstFirst(f, &causes);
  PutEarlierFirst(f, &ranked);
  return ranked;
}

}  // namespace nanwatch
