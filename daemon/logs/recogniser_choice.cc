// Recogniser: which of the formats that read a log is its program's.

#include <algorithm>

#include "logs/recogniser.h"

namespace nanwatch {

// The more it says of the program, the more: its own format, one that reads
// names, one that reads whatever is alike, one that only guesses.
int Recogniser::RankOf(const Candidate& c) {
  if (c.format->part != LogFormat::Part::kGeneric) return 3;
  const bool guesses = c.progress == c.guesses;
  return guesses ? 0 : c.format->last_resort ? 1 : 2;
}

// Of formats of no known program: what reads a few of the lines that the other
// one reads does not know what they say.
bool Recogniser::IsFarBehind(const Candidate& c, const Candidate& other) {
  constexpr int64_t kFar = 4;  // times as many; ours
  const bool generic = c.format->part == LogFormat::Part::kGeneric &&
                       other.format->part == LogFormat::Part::kGeneric;
  return generic && other.progress - other.guesses > kFar * c.progress;
}

Recogniser::Certainty Recogniser::CertaintyOf(const Candidate* best) const {
  if (best == nullptr) return Certainty::kNone;
  if (best->format->part == LogFormat::Part::kGeneric) return Certainty::kGuess;
  const bool rival = std::any_of(
      candidates_.begin(), candidates_.end(), [best](const Candidate& c) {
        return &c != best && c.format->part == LogFormat::Part::kProgress &&
               2 * c.progress > best->progress;
      });
  return best->progress >= kEnough && !rival ? Certainty::kSure
                                             : Certainty::kLikely;
}

Recogniser::Certainty Recogniser::certainty() const { return certainty_; }

}  // namespace nanwatch
