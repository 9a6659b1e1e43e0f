// Recogniser: finds out which program printed a log while it is read, once and
// from the front. Until that is clear, all formats read every line, and what
// they say waits; then the chosen one is believed from the first line on, with
// the libraries' formats (kScaler) that read anything.

#ifndef NANWATCH_LOGS_RECOGNISER_H_
#define NANWATCH_LOGS_RECOGNISER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/added_terms.h"
#include "logs/coverage.h"
#include "logs/format.h"
#include "logs/loss_series.h"
#include "logs/mark_search.h"
#include "logs/rank_names.h"
#include "logs/rank_prefix.h"
#include "logs/silent_lines.h"
#include "logs/step_sign.h"
#include "logs/unread_kinds.h"

namespace nanwatch {

class Recogniser {
 public:
  // `only`: no search, this format and the libraries' (--format). null: search;
  // with a map that says something, among the generic formats alone.
  Recogniser(const LogFormat* only, const ColumnMap& map, FactSink sink);

  void ReadLine(std::string_view line);
  // Nothing more follows for now: decides if it would with a few lines more,
  // since those of a slow log may be minutes away.
  void DecideIfLikely();
  // Nothing more follows: decides with what there is.
  void Finish();

  bool decided() const { return decided_; }
  // The program's format; null: none was recognised (yet). Libraries' formats
  // may have been, all the same.
  const LogFormat* program() const { return program_; }
  // How sure the program is.
  enum class Certainty : uint8_t {
    kNone,    // none was recognised
    kTold,    // the caller said so
    kSure,    // enough step lines that no other program's format reads
    kLikely,  // few step lines, or another format reads some of them too
    kGuess,   // a generic format: names of numbers were understood
  };
  Certainty certainty() const;
  // Lines of the program that were read as steps.
  uint64_t step_lines() const;
  // Names joined with '+', the program's first: "megatron+deepspeed". Empty:
  // nothing was recognised.
  std::string Emitter() const;
  // Every overflow is told by one of the recognised formats.
  bool tells_overflows() const { return tells_overflows_; }
  // A line showed a learning rate of 0 that hides no digits.
  bool shows_zero_rate() const { return shows_zero_rate_; }
  bool skips_take_steps() const {
    return program_ == nullptr || program_->skips_take_steps;
  }
  // The same, and known: the program is no generic format.
  bool surely_take_steps() const {
    return program_ != nullptr && program_->skips_take_steps &&
           program_->part != LogFormat::Part::kGeneric;
  }
  uint64_t lines() const { return lines_; }
  // Of the program's step lines.
  LogCoverage coverage() const;

  // Step lines of one program's format that settle the matter; more for generic
  // ones, which read many things that are no training.
  static constexpr int kEnough = 8;
  static constexpr int kEnoughGeneric = 256;
  // The same for DecideIfLikely.
  static constexpr int kLikely = 2;
  static constexpr int kLikelyGeneric = 8;
  // Facts that wait at most; then what was read most is believed.
  static constexpr size_t kWaitingMax = 20000;
  // Steps that a bar is at when it is first seen, at most, where the log shows
  // the run from its first step on; ours: more may be a checkpoint's.
  static constexpr int64_t kBeganWithLog = 1000;
  // Ranks that have a reader of their own; more share one.
  static constexpr size_t kReadersMax = 64;

 private:
  struct Candidate {
    const LogFormat* format;
    std::unique_ptr<LineReader> reader;
    // Of lines that name their rank or process: each has its own steps.
    std::map<int64_t, std::unique_ptr<LineReader>> readers_of_ranks;
    int64_t facts = 0;     // read, settings apart
    int64_t progress = 0;  // of those, step lines with a loss, norm or scale
    int64_t guesses = 0;   // of those, guessed ones
    int64_t placed = 0;    // of those, with a step that they print
    Coverage coverage;
    AddedTerms added;  // to the loss of its step lines
  };
  struct Waiting {
    size_t candidate;
    uint64_t line;
    LogFact fact;
    std::string text;   // what the fact's view pointed to
    bool sign = false;  // of AddSign()
    RankNames::Label label;
  };

  void Offer(size_t candidate, std::string_view line, const RankPrefix& prefix);
  void NoteAdded(std::string_view line, AddedTerms* added);
  LineReader* ReaderOf(Candidate* candidate, const RankPrefix& prefix);
  bool OfferUsual(std::string_view line, const RankPrefix& prefix);
  void ForgetMixed(const RankPrefix& prefix);
  void ForgetUsual();
  // Returns what is known of lines like this one, if nobody had a word on one.
  std::optional<SilentLines::Kind> FindSilent(std::string_view line);
  // Gives such a line to who said nothing. False: it wants Offer().
  bool PassSilent(size_t candidate, std::string_view line,
                  const RankPrefix& prefix);
  void LearnSilent(std::string_view line, const MarkSearch::Groups& asked);
  // What was read of `line` is in facts_. Looks for words where numbers should
  // be: where they mean NaN, it is read so. The line as it was read.
  std::string_view Cover(Candidate* candidate, LineReader* reader,
                         std::string_view line);
  bool ReadUndressed(Candidate* candidate, LineReader* reader,
                     std::string_view line,
                     const std::vector<WordsForNumber>& words);
  void TakeFacts(size_t candidate, std::string_view line,
                 const RankPrefix& prefix, bool usual);
  void SettleRank(const RankNames::Label& label, LogFact* fact);
  void SettleWaiting();
  // Losses with other words come in turn from their first line on.
  void MarkWordsInTurn();
  void TellOrWait();
  // Where a library's lines are all that was read: what shows that steps go by.
  void AddSign(std::string_view line);
  // Looks from now on for the marks of the candidates.
  void PrepareSearch();
  // All may be, until it is decided.
  bool Wanted(const Candidate& c) const;
  static int RankOf(const Candidate& c);
  static bool PlacesAll(const Candidate& c);
  static bool ReadsMore(const Candidate& c, const Candidate& other);
  static bool IsFarBehind(const Candidate& c, const Candidate& other);
  void Weigh(size_t candidate);
  void Decide();
  bool AnyTellsOverflows() const;
  bool AnySteps() const;
  Certainty CertaintyOf(const Candidate* best) const;

  const ColumnMap map_;
  RankNames ranks_;
  std::vector<Candidate> candidates_;  // generic formats last; wanted ones
  size_t first_generic_ = 0;
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t own_ = kNone;  // the program's, once it is known
  bool mixed_ = false;  // there is more in the present line than its program's
  bool library_spoke_ = false;  // a library's format read the present line
  size_t library_from_ = 0;     // from this byte on
  size_t library_ = kNone;      // the last that said anything
  MarkSearch search_{std::vector<MarkSearch::Mark>()};
  MarkSearch::Groups unmarked_;  // candidates that any line may be for
  std::vector<Waiting> waiting_;
  LossWords words_;      // of those that wait
  FactList facts_;       // of one candidate
  FactList line_facts_;  // of the line
  SilentLines silent_;
  MarkSearch::Groups quiet_;  // candidates that said nothing of the line
  UnreadKinds unread_;
  bool understood_ = false;  // a format knows the present line
  StepSigns signs_;
  std::optional<LogFact> sign_;  // of the line
  bool cut_out_ = false;         // its first line has a bar that had come far
  std::string undressed_;        // the line with "nan" for words that mean it
  // Whose they are, in the order in which they stand in the line.
  struct Told {
    size_t fact;
    size_t candidate;
    RankNames::Label label;
  };
  std::vector<Told> told_;
  const FactSink sink_;
  const LogFormat* program_ = nullptr;
  bool decided_ = false;
  bool tells_overflows_ = false;
  bool shows_zero_rate_ = false;
  Certainty certainty_ = Certainty::kNone;
  uint64_t lines_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RECOGNISER_H_
