#include "detect/program_ended.h"

#include <algorithm>
#include <string>

#include "base/whole_words.h"

namespace nanwatch {
namespace {

// A person, or whoever runs programs, ended it: nothing is wrong with it.
bool IsOnPurpose(ProgramEnd::Kind kind) {
  return kind == ProgramEnd::Kind::kInterrupt ||
         kind == ProgramEnd::Kind::kSignal;
}

}  // namespace

constinit const RuleSpec ProgramEnded::kSpec = {
    RuleId::kProgramEnded,
    "program_ended",
    Family::kTelemetry,
    "The program broke off: an error, an exit, a signal, a person.",
    "The client of a rank says that its program did not end in order: an "
    "exception that nobody caught, memory that ran out, an exit with another "
    "status than 0; for information where a person or a signal ended it. Of "
    "several ranks the one that says most: an error before an exit, an exit "
    "before a signal.",
    "The rank opens again.",
    {},
    "What ends a process at once (SIGKILL, a crash in native code) cannot be "
    "told: such a rank is lost, and that is rule telemetry_gap's."};

Severity ProgramEnded::OnTime(const TimeContext& c, Thresholds) {
  if (c.rank_end == nullptr) return severity_ = Severity::kNone;
  const RankEnd& of = *c.rank_end;
  const std::string words = WordsOf(of.end);
  const std::string kept = WholeWords(words, kWords);
  std::copy(kept.begin(), kept.end(), words_.begin());
  size_ = static_cast<uint8_t>(kept.size());
  kind_ = of.end.kind;
  rank_ = c.run.world_size > 1 ? of.rank : -1;
  step_ = of.step;
  severity_ = IsOnPurpose(kind_) ? Severity::kInfo : Severity::kWarning;
  return severity_;
}

void ProgramEnded::Describe(Finding* finding) const {
  finding->opened_step = finding->last_step = std::max<int64_t>(step_, 0);
  finding->subject.rank = rank_;
  finding->sentence = "Ended by " + std::string(words_.data(), size_);
  if (rank_ >= 0) finding->sentence += " on rank " + std::to_string(rank_);
  finding->sentence += step_ < 0 ? " before any step."
                                 : " at step " + std::to_string(step_) + ".";
  finding->numbers = {{"kind", static_cast<double>(kind_), ""}};
}

}  // namespace nanwatch
