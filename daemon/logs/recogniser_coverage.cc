// Recogniser: words that stand where a step line has numbers.

#include <algorithm>
#include <bit>
#include <limits>

#include "logs/recogniser.h"

namespace nanwatch {
namespace {

constexpr uint64_t kBeside = 4;  // lines of a log: one more beside them; ours

// The last of `facts` that is a step line's; null: there is none.
LogFact* LastStep(FactList* facts) {
  const auto found =
      std::find_if(facts->rbegin(), facts->rend(),
                   [](const LogFact& fact) { return fact.says_health(); });
  return found == facts->rend() ? nullptr : &*found;
}

// Counts the lines before this one that `facts` tell of: each shows a step of
// its own. A last resort also tells those of lines without a step, one fact a
// line, or one of each loss with its number.
uint64_t Waited(const LogFormat& format, const FactList& facts) {
  int64_t lines = 0;
  std::optional<int64_t> newest;
  for (const LogFact& fact : facts) {
    if (!fact.says_health() || fact.scaler.value_or(0) != 0) continue;
    if (fact.step ? fact.step == newest : !format.last_resort) continue;
    newest = fact.step;
    ++lines;
  }
  return static_cast<uint64_t>(std::max<int64_t>(lines - 1, 0));
}

}  // namespace

std::string_view Recogniser::Cover(Candidate* candidate, LineReader* reader,
                                   std::string_view line) {
  Coverage& coverage = candidate->coverage;
  LogFact* const step = LastStep(&facts_);
  coverage.NoteWaited(Waited(*candidate->format, facts_));
  if (step != nullptr && !coverage.NoteRead(line, step->present)) return line;
  uint32_t fields = 0;
  const std::vector<WordsForNumber>& words = coverage.Find(line, &fields);
  if (words.empty()) {
    // What a known program's reader leaves out, it knows to be no step; so does
    // the last resort, which reads what names a loss.
    const bool names = candidate->format->part == LogFormat::Part::kGeneric &&
                       !candidate->format->last_resort;
    if (facts_.empty() && names) coverage.NoteSilent(lines_);
    return line;
  }
  const bool nan =
      std::any_of(words.begin(), words.end(),
                  [](const WordsForNumber& w) { return IsDressedNan(w.text); });
  if (step == nullptr) {
    if (nan && ReadUndressed(candidate, reader, line, words)) return undressed_;
    coverage.NoteUnread(lines_, true);
    return line;
  }
  const uint32_t lost = fields & ~step->present;
  if (lost == 0) return line;
  // Which of several is the NaN is not looked for: all are gone.
  if (nan) {
    for (uint32_t left = lost; left != 0; left &= left - 1) {
      step->Set(static_cast<StepField>(std::countr_zero(left)),
                std::numeric_limits<double>::quiet_NaN());
    }
  } else {
    coverage.NoteUnread(lines_, false);
  }
  return line;
}

// A reader that said nothing of a line takes it for no step line, and may be
// asked again.
bool Recogniser::ReadUndressed(Candidate* candidate, LineReader* reader,
                               std::string_view line,
                               const std::vector<WordsForNumber>& words) {
  undressed_.clear();
  const char* from = line.data();
  for (const WordsForNumber& each : words) {
    if (!IsDressedNan(each.text)) continue;
    undressed_.append(from, each.text.data());
    undressed_ += "nan";
    from = each.text.data() + each.text.size();
  }
  undressed_.append(from, line.data() + line.size());
  facts_.clear();
  reader->Read(undressed_, &facts_);
  LogFact* const step = LastStep(&facts_);
  if (step == nullptr) return false;
  candidate->coverage.NoteRead(undressed_, step->present);
  return true;
}

LogCoverage Recogniser::coverage() const {
  LogCoverage told;
  if (own_ != kNone) told = candidates_[own_].coverage.told();
  // Of a log of no known program with many lines of another kind nobody knows
  // what it says. One beside each step may be an evaluation's, while it shows a
  // number.
  const bool known =
      program_ != nullptr && program_->part != LogFormat::Part::kGeneric;
  const UnreadKinds::Kind unread = unread_.most();
  const uint64_t most = told.step_lines + told.step_lines / kBeside;
  if (!known && (unread.lines > most || unread.lost())) {
    told.step_lines += unread.lines;
    told.unread += unread.lines;
    told.examples.push_back(
        {.line = unread.first, .whole = LogCoverage::Example::Whole::kOther});
  }
  return told;
}

}  // namespace nanwatch
