// Rank: which causes are told, in which order. Grade, precedence and ceiling
// meet here, and nowhere else.

#ifndef NANWATCH_DIAGNOSE_RANK_H_
#define NANWATCH_DIAGNOSE_RANK_H_

#include <vector>

#include "diagnose/cause_form.h"

namespace nanwatch {

struct Ranked {
  // The cause that best explains comes first: better established before less,
  // then in the order of the forms; but causes of what is worse come before
  // others of which they share no finding. What established causes explain
  // already is left out.
  std::vector<Match> causes;
  // The first is what fired before and is found no more: its words are those of
  // the incident.
  bool first_is_memory = false;
};
// Takes the matches that explain what is found or are worth telling anyhow.
// What no cause explains comes last, as kUnexplained.
Ranked Rank(const Facts& f, Matches* matches);

// True where what is alerted still has another cause by now, an established
// one: that is told, and not what was thought before.
bool IsKnownBetter(const Facts& f, const std::vector<Match>& causes);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_RANK_H_
