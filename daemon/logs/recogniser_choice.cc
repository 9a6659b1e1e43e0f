// Recogniser: which of the formats that read a log is its program's.

#include <algorithm>
#include <map>

#include "logs/recogniser.h"

namespace nanwatch {

// The more it says of the program, the more: its own format, one that reads
// names, one that reads whatever is alike, one that only guesses.
int Recogniser::RankOf(const Candidate& c) {
  if (c.format->part != LogFormat::Part::kGeneric) return 3;
  const bool guesses = c.progress == c.guesses;
  return guesses ? 0 : c.format->last_resort ? 1 : 2;
}

bool Recogniser::Wanted(const Candidate& c) const {
  return !decided_ || c.format->part == LogFormat::Part::kScaler ||
         c.format == program_;
}

void Recogniser::DecideIfLikely() {
  using Part = LogFormat::Part;
  const auto likely = [](const Candidate& c) {
    return c.format->part != Part::kScaler &&
           c.progress >=
               (c.format->part == Part::kGeneric ? kLikelyGeneric : kLikely);
  };
  if (std::any_of(candidates_.begin(), candidates_.end(), likely)) Decide();
}

void Recogniser::MarkWordsInTurn() {
  std::map<int32_t, LossSeries> series;  // of ranks; -1: of lines without one
  for (const bool known : {false, true}) {
    for (Waiting& w : waiting_) {
      if (w.fact.words == 0 || w.fact.beside || w.fact.scaler) continue;
      LossSeries& own = series[w.fact.rank.value_or(-1)];
      if (known) {
        w.fact.words_in_turn = own.IsOther(w.fact.words);
      } else if (!w.fact.has(StepField::kLoss) ||
                 !own.SaysAgain(w.fact.words, w.fact.step,
                                w.fact[StepField::kLoss])) {
        own.Of(w.fact.words, w.fact.step, words_);
      }
    }
  }
}

// Its lines are those of steps, each with its number.
bool Recogniser::PlacesAll(const Candidate& c) {
  return c.progress >= kLikelyGeneric && c.placed == c.progress;
}

bool Recogniser::ReadsMore(const Candidate& c, const Candidate& other) {
  const bool generic = c.format->part == LogFormat::Part::kGeneric;
  // Between two lines of steps stand others without one, of minibatches.
  if (generic && other.placed == 0 && PlacesAll(c)) return true;
  if (generic && c.placed == 0 && PlacesAll(other)) return false;
  return c.progress > other.progress ||
         (c.progress == other.progress && c.facts > other.facts);
}

// Of formats of no known program: what reads a few of the lines that the other
// one reads does not know what they say.
bool Recogniser::IsFarBehind(const Candidate& c, const Candidate& other) {
  constexpr int64_t kFar = 4;       // times as many; ours
  constexpr int64_t kBetween = 16;  // the same, without steps; ours
  const bool generic = c.format->part == LogFormat::Part::kGeneric &&
                       other.format->part == LogFormat::Part::kGeneric;
  const int64_t far = other.placed == 0 && PlacesAll(c) ? kBetween : kFar;
  return generic && other.progress - other.guesses > far * c.progress;
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
