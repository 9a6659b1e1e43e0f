#include "logs/recogniser.h"

#include <algorithm>
#include <utility>

namespace nanwatch {
namespace {

bool HoldsMark(const LogFormat& format, std::string_view line) {
  if (format.marks.empty()) return true;
  return std::any_of(format.marks.begin(), format.marks.end(),
                     [line](std::string_view mark) {
                       return line.find(mark) != std::string_view::npos;
                     });
}

bool SaysHealth(const LogFact& fact) {
  return fact.kind == LogFact::Kind::kProgress &&
         (fact.has(StepField::kLoss) || fact.has(StepField::kLossScale) ||
          fact.has(StepField::kGradNorm) || fact.skipped_total ||
          fact.skipped_since || fact.loss_left_out);
}

}  // namespace

Recogniser::Recogniser(const LogFormat* only, const ColumnMap& map,
                       FactSink sink)
    : sink_(std::move(sink)), program_(only), decided_(only != nullptr) {
  for (const LogFormat* format : AllLogFormats()) {
    const bool wanted = only == nullptr || format == only ||
                        format->part == LogFormat::Part::kScaler;
    if (wanted) candidates_.push_back({format, format->make(map)});
  }
}

void Recogniser::Offer(size_t candidate, std::string_view line) {
  Candidate& c = candidates_[candidate];
  if (c.dropped || !HoldsMark(*c.format, line)) return;
  facts_.clear();
  c.reader->Read(line, &facts_);
  for (const LogFact& fact : facts_) {
    if (fact.kind != LogFact::Kind::kSetting) ++c.facts;
    if (SaysHealth(fact)) ++c.progress;
    line_facts_.emplace_back(candidate, fact);
  }
}

void Recogniser::ReadLine(std::string_view line) {
  ++lines_;
  line_facts_.clear();
  for (size_t i = 0; i < candidates_.size(); ++i) Offer(i, line);
  if (line_facts_.empty()) return;
  // Messages glued into one line, in the order in which they stand there.
  std::stable_sort(
      line_facts_.begin(), line_facts_.end(),
      [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
  if (decided_) {
    for (const auto& [candidate, fact] : line_facts_) sink_(fact, lines_);
    return;
  }
  for (const auto& [candidate, fact] : line_facts_) {
    waiting_.push_back({candidate, lines_, fact, std::string(fact.text),
                        std::string(fact.optimizer)});
  }
  for (const auto& [candidate, fact] : line_facts_) Weigh(candidate);
  if (waiting_.size() >= kWaitingMax) Decide();
}

void Recogniser::Weigh(size_t candidate) {
  if (decided_) return;
  const Candidate& c = candidates_[candidate];
  if (c.format->part == LogFormat::Part::kScaler) return;
  const bool generic = c.format->part == LogFormat::Part::kGeneric;
  if (c.progress >= (generic ? kEnoughGeneric : kEnough)) Decide();
}

// The program's format that read most step lines; of equals the more
// particular; a generic one only where no other read any.
void Recogniser::Decide() {
  if (decided_) return;
  decided_ = true;
  const Candidate* best = nullptr;
  for (const Candidate& c : candidates_) {
    if (c.format->part == LogFormat::Part::kScaler || c.facts == 0) continue;
    const bool generic = c.format->part == LogFormat::Part::kGeneric;
    const bool best_generic =
        best != nullptr && best->format->part == LogFormat::Part::kGeneric;
    const bool better =
        best == nullptr || (best_generic && !generic) ||
        (best_generic == generic &&
         (c.progress > best->progress ||
          (c.progress == best->progress && c.facts > best->facts)));
    if (better) best = &c;
  }
  if (best != nullptr) program_ = best->format;
  for (Candidate& c : candidates_) {
    c.dropped =
        c.format->part != LogFormat::Part::kScaler && c.format != program_;
  }
  for (Waiting& w : std::exchange(waiting_, {})) {
    if (candidates_[w.candidate].dropped) continue;
    w.fact.text = w.text;
    w.fact.optimizer = w.optimizer;
    sink_(w.fact, w.line);
  }
}

void Recogniser::Finish() { Decide(); }

std::string Recogniser::Emitter() const {
  std::string name(program_ == nullptr ? "" : program_->name);
  for (const Candidate& c : candidates_) {
    if (c.format == program_ || c.dropped || c.facts == 0) continue;
    if (!name.empty()) name += '+';
    name += c.format->name;
  }
  return name;
}

bool Recogniser::tells_overflows() const {
  if (program_ != nullptr && program_->tells_overflows) return true;
  return std::any_of(
      candidates_.begin(), candidates_.end(), [](const Candidate& c) {
        return !c.dropped && c.facts > 0 && c.format->tells_overflows;
      });
}

bool Recogniser::skips_take_steps() const {
  return program_ == nullptr || program_->skips_take_steps;
}

}  // namespace nanwatch
