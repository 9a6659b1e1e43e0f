#include "logs/recogniser.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "logs/in_words.h"
#include "logs/loss_terms.h"
#include "logs/scan.h"
#include "logs/zero_rate.h"

namespace nanwatch {
namespace {

constexpr int64_t kStepMax = 1'000'000'000'000'000;

// What stands before the message of a library that says something at `at`: up
// to its date, "[2024-07-10 14:43:41,431] [INFO] ...", or all.
std::string_view BeforeMessage(std::string_view line, size_t at) {
  const size_t date = line.rfind("[20", at);
  return TrimBlanks(line.substr(0, date == std::string_view::npos ? at : date));
}

// Adds what a step line says of its loss besides the number.
void NoteTerm(std::string_view line, LogFact* fact) {
  // Adversaries' losses have no terms.
  if (fact->of_adversary) return;
  if (!fact->has(StepField::kLoss) || !fact->text.empty()) return;
  if (std::isfinite((*fact)[StepField::kLoss])) {
    const OddPart odd = PartBesideLoss(line);
    fact->text = odd.name;
    fact->text_of_metric = odd.metric;
  } else {
    fact->text = TermNotFinite(line);
  }
}

}  // namespace

Recogniser::Recogniser(const LogFormat* only, const ColumnMap& map,
                       FactSink sink)
    : map_(map),
      sink_(std::move(sink)),
      program_(only),
      decided_(only != nullptr),
      certainty_(only != nullptr ? Certainty::kTold : Certainty::kNone) {
  for (const LogFormat* format : AllLogFormats()) {
    using Part = LogFormat::Part;
    const bool mapped = !map.columns.empty();
    const bool wanted =
        format->part == Part::kScaler || format == only ||
        (only == nullptr &&
         (!mapped || (format->part == Part::kGeneric && !format->last_resort)));
    if (wanted) candidates_.push_back({format, format->make(map)});
  }
  std::stable_partition(candidates_.begin(), candidates_.end(),
                        [](const Candidate& c) {
                          return c.format->part != LogFormat::Part::kGeneric;
                        });
  tells_overflows_ = AnyTellsOverflows();
  PrepareSearch();
}

void Recogniser::PrepareSearch() {
  std::vector<MarkSearch::Mark> marks;
  unmarked_ = {};
  first_generic_ = candidates_.size();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& c = candidates_[i];
    if (c.format->part == LogFormat::Part::kGeneric) {
      first_generic_ = std::min(first_generic_, i);
    }
    if (c.format == program_) own_ = i;
    // Hardly a line is without the marks of a generic format.
    const bool any = c.format->marks.empty() ||
                     (decided_ && c.format->part == LogFormat::Part::kGeneric);
    if (any) {
      unmarked_.Set(i);
      continue;
    }
    for (const std::string_view mark : c.format->marks) {
      marks.push_back({mark, i});
    }
  }
  search_ = MarkSearch(marks);
  silent_.Forget();
}

void Recogniser::Offer(size_t candidate, std::string_view line,
                       const RankPrefix& prefix) {
  facts_.clear();
  Candidate& c = candidates_[candidate];
  LineReader* const reader = ReaderOf(&c, prefix);
  reader->Read(line, &facts_);
  if (c.format->part != LogFormat::Part::kScaler) {
    line = Cover(&c, reader, line);
    if (!facts_.empty() && c.coverage.learns()) silent_.Forget();
  }
  if (facts_.empty() && reader->said_nothing() && !c.coverage.alike()) {
    quiet_.Set(candidate);
  }
  if (candidate != own_) mixed_ |= reader->remembers() || !facts_.empty();
  TakeFacts(candidate, line, prefix, false);
}

// Of lines that a last resort kept the first is the one where that was.
void Recogniser::NoteAdded(std::string_view line, AddedTerms* added) {
  if (facts_.empty() || !facts_.back().has(StepField::kLoss)) return;
  if (added->Take(line, facts_.back()[StepField::kLoss])) {
    facts_.front().objective_moves = true;
  }
}

LineReader* Recogniser::ReaderOf(Candidate* candidate,
                                 const RankPrefix& prefix) {
  const bool named = prefix.rank || prefix.process;
  if (!named || candidate->format->part == LogFormat::Part::kScaler) {
    return candidate->reader.get();
  }
  auto& readers = candidate->readers_of_ranks;
  const int64_t key = prefix.rank ? *prefix.rank : *prefix.process;
  const auto found = readers.find(key);
  if (found != readers.end()) return found->second.get();
  if (readers.size() == kReadersMax) return candidate->reader.get();
  return (readers[key] = candidate->format->make(map_)).get();
}

void Recogniser::TakeFacts(size_t candidate, std::string_view line,
                           const RankPrefix& prefix, bool usual) {
  Candidate& c = candidates_[candidate];
  if (!facts_.empty() && c.format->part == LogFormat::Part::kScaler &&
      !c.format->within_lines) {
    if (!library_spoke_) library_from_ = line.size();
    library_ = candidate;
    library_spoke_ = true;
    library_from_ = std::min<size_t>(library_from_, facts_.front().at);
  }
  understood_ |= std::erase_if(facts_, [](const LogFact& fact) {
                   return fact.kind == LogFact::Kind::kUnderstood;
                 }) > 0;
  NoteAdded(line, &c.added);
  for (LogFact& fact : facts_) {
    // Torn numbers make any count; none is passed on that cannot be.
    for (std::optional<int64_t>* const count :
         {&fact.step, &fact.skipped_since, &fact.skipped_total,
          &fact.nan_since}) {
      if (*count && (**count < 0 || **count > kStepMax)) count->reset();
    }
    if (fact.kind != LogFact::Kind::kSetting) {
      tells_overflows_ |= c.format->tells_overflows;
      ++c.facts;
    }
    if (fact.says_health()) {
      ++c.progress;
      if (fact.guessed) ++c.guesses;
      if (fact.step && !fact.step_counted) ++c.placed;
    }
    if (fact.kind == LogFact::Kind::kProgress) {
      // What a last resort kept is of lines before this one.
      const bool kept = c.format->last_resort && &fact != &facts_.back();
      const bool plain = usual && std::isfinite(fact[StepField::kLoss]);
      if (!plain && !kept) NoteTerm(line, &fact);
      mixed_ |= !fact.text.empty();
      const bool idle = fact.has(StepField::kLearningRate) &&
                        fact[StepField::kLearningRate] == 0;
      if (idle) shows_zero_rate_ |= ShowsZeroRate(line);
    }
    RankNames::Label label;
    const bool ends = fact.kind == LogFact::Kind::kBroke;
    if (ends || (!fact.beside && fact.says_health())) {
      label = ranks_.Name(candidate, line, prefix, &fact);
    }
    told_.push_back({told_.size(), candidate, std::move(label)});
  }
  // Mostly one format reads a line.
  if (line_facts_.empty()) {
    std::swap(line_facts_, facts_);
  } else {
    line_facts_.insert(line_facts_.end(), facts_.begin(), facts_.end());
  }
}

void Recogniser::ReadLine(std::string_view line) {
  ++lines_;
  line_facts_.clear();
  told_.clear();
  library_spoke_ = false;
  mixed_ = false;
  understood_ = false;
  const bool has_usual = own_ != kNone;
  RankPrefix prefix;
  if (has_usual) prefix = ReadRankPrefix(line);
  if (has_usual && OfferUsual(line, prefix)) {
    if (!told_.empty()) TellOrWait();
    return;
  }
  std::optional<SilentLines::Kind> kind = FindSilent(line);
  MarkSearch::Groups marked = kind ? kind->marked : search_.Find(line);
  marked |= unmarked_;
  AddSign(line);
  if (marked.empty() && !sign_) return unread_.Note(line, lines_);
  if (!has_usual) prefix = ReadRankPrefix(line);
  const std::string_view whole = line;
  const MarkSearch::Groups asked = marked;
  quiet_ = {};
  line.remove_prefix(prefix.size);
  while (!marked.empty()) {
    const size_t i = marked.Take();
    // What a library's format understands is no line of an unknown program; one
    // may stand before it, without a line's end.
    if (i >= first_generic_ && library_spoke_) {
      line = BeforeMessage(line, library_from_);
      library_spoke_ = false;
      kind.reset();
      if (line.empty()) break;
    }
    const bool silent = kind && kind->silent.Has(i);
    if (!silent || !PassSilent(i, line, prefix)) Offer(i, line, prefix);
  }
  if (has_usual && mixed_) ForgetMixed(prefix);
  if (!told_.empty() || sign_) {
    TellOrWait();
  } else if (!understood_) {
    if (!kind) LearnSilent(whole, asked);
    unread_.Note(line, lines_);
  }
}

bool Recogniser::AnySteps() const {
  return std::any_of(candidates_.begin(), candidates_.end(),
                     [](const Candidate& c) { return c.progress > 0; });
}

void Recogniser::AddSign(std::string_view line) {
  sign_.reset();
  if (lines_ == 1) {
    const std::optional<BarPlace> bar = BarIn(line);
    cut_out_ = bar && bar->step.step > 1;
  }
  if (program_ != nullptr || library_ == kNone) return;
  if (AnySteps()) return;
  const std::optional<int64_t> step = signs_.Find(line);
  if (!step || *step == 0) return;
  sign_.emplace();
  sign_->step = step;
  sign_->beside = true;
}

void Recogniser::TellOrWait() {
  if (sign_ && decided_) {
    sink_(*sign_, lines_);
  } else if (sign_) {
    // A bar that has not come far began with the log, and good steps with it
    // where it shows more than overflowed; but not with a log whose first
    // line has such a bar: that was cut out of one.
    const bool first = std::none_of(waiting_.begin(), waiting_.end(),
                                    [](const Waiting& w) { return w.sign; });
    const auto overflows =
        std::count_if(waiting_.begin(), waiting_.end(), [](const Waiting& w) {
          return w.fact.kind == LogFact::Kind::kOverflow;
        });
    if (first && !cut_out_ && *sign_->step > overflows + 1 &&
        *sign_->step <= kBeganWithLog) {
      Waiting began{library_, waiting_.front().line, *sign_, "", true, {}};
      began.fact.step = 1;
      waiting_.insert(waiting_.begin(), std::move(began));
    }
    waiting_.push_back({library_, lines_, *sign_, "", true, {}});
  }
  // Messages glued into one line, in the order in which they stand there.
  if (told_.size() > 1) {
    std::stable_sort(told_.begin(), told_.end(),
                     [this](const Told& a, const Told& b) {
                       return line_facts_[a.fact].at < line_facts_[b.fact].at;
                     });
  }
  if (decided_) {
    for (const Told& told : told_) {
      LogFact& fact = line_facts_[told.fact];
      SettleRank(told.label, &fact);
      if (!ranks_.complete()) fact.rank.reset();
      sink_(fact, lines_);
    }
    return;
  }
  for (const Told& told : told_) {
    const LogFact& fact = line_facts_[told.fact];
    if (fact.words != 0) words_.Note(fact.words, fact.before_loss);
    waiting_.push_back({told.candidate, lines_, fact, std::string(fact.text),
                        false, told.label});
  }
  for (const Told& told : told_) Weigh(told.candidate);
  if (waiting_.size() >= kWaitingMax) Decide();
}

void Recogniser::Weigh(size_t candidate) {
  if (decided_) return;
  const Candidate& c = candidates_[candidate];
  if (c.format->part == LogFormat::Part::kScaler) return;
  const bool generic = c.format->part == LogFormat::Part::kGeneric;
  const bool more = generic || ranks_.awaited();
  const int64_t known = c.progress - c.guesses;
  if (known >= (more ? kEnoughGeneric : kEnough)) Decide();
}

// The program's format that read most step lines; of equals the more
// particular; a generic one only where no other read any.
void Recogniser::Decide() {
  if (decided_) return;
  decided_ = true;
  const Candidate* best = nullptr;
  for (const Candidate& c : candidates_) {
    if (c.format->part == LogFormat::Part::kScaler || c.facts == 0) continue;
    const int rank = RankOf(c);
    const int best_rank = best == nullptr ? -1 : RankOf(*best);
    const bool better =
        rank > best_rank || (rank == best_rank && ReadsMore(c, *best));
    const bool few = best != nullptr && IsFarBehind(*best, c);
    if (few || (better && (best == nullptr || !IsFarBehind(c, *best)))) {
      best = &c;
    }
  }
  if (best != nullptr) program_ = best->format;
  ForgetUsual();
  certainty_ = CertaintyOf(best);
  tells_overflows_ = AnyTellsOverflows();
  const bool steps = AnySteps();
  SettleWaiting();
  const bool named =
      std::any_of(waiting_.begin(), waiting_.end(), [this](const Waiting& w) {
        return Wanted(candidates_[w.candidate]) && !w.sign && !w.fact.guessed &&
               w.fact.kind == LogFact::Kind::kProgress &&
               w.fact.has(StepField::kLoss);
      });
  std::erase_if(waiting_, [&](const Waiting& w) {
    return !Wanted(candidates_[w.candidate]) || (w.sign && steps) ||
           (named && w.fact.guessed);
  });
  MarkWordsInTurn();
  for (Waiting& w : std::exchange(waiting_, {})) {
    w.fact.text = w.text;
    w.fact.before_loss = words_.TextOf(w.fact.words);
    sink_(w.fact, w.line);
  }
  std::erase_if(candidates_, [this](const Candidate& c) { return !Wanted(c); });
  PrepareSearch();
}

// What a program says of overflows it says once, for all ranks: its lines are
// not taken for those of ranks by what they begin with.
void Recogniser::SettleRank(const RankNames::Label& label, LogFact* fact) {
  if (!tells_overflows_) ranks_.Settle(label, fact);
}

// Whose lines these are is clear once others' have come.
void Recogniser::SettleWaiting() {
  for (Waiting& w : waiting_) SettleRank(w.label, &w.fact);
  if (ranks_.complete()) return;
  for (Waiting& w : waiting_) w.fact.rank.reset();
}

void Recogniser::Finish() { Decide(); }

uint64_t Recogniser::step_lines() const {
  return own_ == kNone ? 0 : static_cast<uint64_t>(candidates_[own_].progress);
}

std::string Recogniser::Emitter() const {
  std::string name(program_ == nullptr ? "" : program_->name);
  for (const Candidate& c : candidates_) {
    if (c.format == program_ || !Wanted(c) || c.facts == 0 ||
        c.format->unnamed) {
      continue;
    }
    if (!name.empty()) name += '+';
    name += c.format->name;
  }
  return name;
}

bool Recogniser::AnyTellsOverflows() const {
  if (program_ != nullptr && program_->tells_overflows) return true;
  return std::any_of(
      candidates_.begin(), candidates_.end(), [this](const Candidate& c) {
        return Wanted(c) && c.facts > 0 && c.format->tells_overflows;
      });
}

}  // namespace nanwatch
