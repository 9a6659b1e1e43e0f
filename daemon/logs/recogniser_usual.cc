// Recogniser: lines that come again and again. Once it is clear that the words
// of the program's line hold nothing of a library's, they are not searched for
// it; and who said nothing of a line is not asked of others like it.

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

// Where no candidate takes any line, most lines have no marks.
std::optional<SilentLines::Kind> Recogniser::FindSilent(std::string_view line) {
  return unmarked_.empty() ? std::nullopt : silent_.Find(line);
}

bool Recogniser::PassSilent(size_t candidate, std::string_view line,
                            const RankPrefix& prefix) {
  return ReaderOf(&candidates_[candidate], prefix)->Pass(line);
}

void Recogniser::LearnSilent(std::string_view line,
                             const MarkSearch::Groups& asked) {
  if (unmarked_.empty() || quiet_.empty()) return;
  silent_.Learn(line, {.marked = asked, .silent = quiet_});
}

}  // namespace nanwatch
