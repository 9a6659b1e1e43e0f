// Recogniser: the program's line that comes again and again. Once it is clear
// that its words hold nothing of a library's, they are not searched for it.

#include <algorithm>

#include "logs/recogniser.h"

namespace nanwatch {

bool Recogniser::OfferUsual(std::string_view line, const RankPrefix& prefix) {
  line.remove_prefix(prefix.size);
  facts_.clear();
  Candidate& c = candidates_[own_];
  if (!ReaderOf(&c, prefix)->ReadUsual(line, &facts_)) return false;
  if (!facts_.empty()) c.coverage.NoteUsual();
  TakeFacts(own_, line, prefix, true);
  return true;
}

// The program's reader knows of no other that has a part in its line.
void Recogniser::ForgetMixed(const RankPrefix& prefix) {
  const bool own =
      std::any_of(told_.begin(), told_.end(),
                  [this](const Told& told) { return told.candidate == own_; });
  if (own) ReaderOf(&candidates_[own_], prefix)->ForgetUsual();
}

// Of lines that were read before the program was known nobody looked at what
// others read in them.
void Recogniser::ForgetUsual() {
  for (Candidate& c : candidates_) {
    c.reader->ForgetUsual();
    for (auto& [rank, reader] : c.readers_of_ranks) reader->ForgetUsual();
  }
}

}  // namespace nanwatch
