#include "logs/line_pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// The letters that `pattern` begins with, up to what stands for others.
std::string_view Literal(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of(" {*"));
}

size_t SkipBlanks(std::string_view line, size_t at) {
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  return at;
}

// End of a word at `at`, before what the pattern goes on with.
size_t BehindWord(std::string_view line, size_t at, std::string_view pattern) {
  const std::string_view next = Literal(pattern);
  size_t end = at;
  while (end < line.size() && line[end] != ' ' &&
         (next.empty() || !line.substr(end).starts_with(next))) {
    ++end;
  }
  return end;
}

struct FieldName {
  std::string_view name;
  StepField field;
};
constexpr FieldName kFields[] = {{"loss", StepField::kLoss},
                                 {"norm", StepField::kGradNorm},
                                 {"lr", StepField::kLearningRate}};

}  // namespace

bool PatternReader::Set(std::string_view name, std::string_view printed,
                        double value, Numbers* numbers) {
  for (const FieldName& each : kFields) {
    if (name == each.name) numbers->fact.Set(each.field, value);
  }
  if (name == "term" && !std::isfinite(value)) {
    numbers->fact.Set(StepField::kLoss, value);
  }
  if (name == "score") numbers->fact.score = value;
  if (name == "scale") SetScale(printed, ScaleText::kRounded, &numbers->fact);
  const bool counts = name == "step" || name == "epoch" || name == "batch" ||
                      name == "whole" || name == "rank";
  if (!counts) return true;
  const std::optional<int64_t> count = AsCount(value);
  if (!count || *count > kCountMax) return false;
  if (name == "step") numbers->fact.step = count;
  if (name == "epoch") numbers->epoch = count;
  if (name == "batch") numbers->batch = count;
  if (name == "whole") numbers->whole = *count;
  if (name == "rank") numbers->fact.rank = static_cast<int32_t>(*count);
  return true;
}

size_t PatternReader::ReadNumber(std::string_view name, std::string_view line,
                                 size_t at, Numbers* numbers) {
  const std::string_view rest = line.substr(SkipBlanks(line, at));
  const std::string_view inside = InsideCall(rest);
  Scan scan(inside);
  const std::optional<Scan::Printed> printed = scan.PrintedNumber();
  if (!printed || !Set(name, printed->text, printed->value, numbers)) {
    return kNowhere;
  }
  if (inside.size() < rest.size() && !scan.To(")")) return kNowhere;
  return line.size() - scan.rest().size();
}

size_t PatternReader::MatchBehind(std::string_view pattern,
                                  std::string_view line, size_t at,
                                  Numbers* numbers) {
  const std::string_view literal = Literal(pattern);
  for (at = line.find(literal, at); at != kNowhere;
       at = line.find(literal, at + 1)) {
    Numbers more = *numbers;
    const size_t end = Match(pattern, line, at, &more);
    if (end == kNowhere) continue;
    *numbers = more;
    return end;
  }
  return kNowhere;
}

size_t PatternReader::Match(std::string_view text, std::string_view line,
                            size_t at, Numbers* numbers) {
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      at = SkipBlanks(line, at);
      if (++i == text.size() && at == line.size()) return kNowhere;
    } else if (text[i] == '*') {
      return MatchBehind(text.substr(i + 1), line, at, numbers);
    } else if (text[i] == '{') {
      const size_t end = text.find('}', i);
      const std::string_view name = text.substr(i + 1, end - i - 1);
      i = end + 1;
      const size_t behind = name.empty() ? BehindWord(line, at, text.substr(i))
                                         : ReadNumber(name, line, at, numbers);
      if (behind == at || behind == kNowhere) return kNowhere;
      at = behind;
    } else {
      if (at >= line.size() || line[at++] != text[i++]) return kNowhere;
    }
  }
  return at;
}

void PatternReader::ReadAlso(const LinePattern& pattern,
                             std::string_view message, LogFact* fact) {
  if (!pattern.rank.empty()) {
    const auto rank = NumberBehind(message, pattern.rank, LastNumber::kIsWhole);
    const auto number =
        AsCount(rank ? std::optional(rank->value) : std::nullopt);
    if (number && *number <= kCountMax) {
      fact->rank = static_cast<int32_t>(*number);
    }
  }
  for (const LinePattern::Also& also : pattern.also) {
    if (fact->has(also.field)) continue;
    const auto number = NumberBehind(message, also.name, also.last);
    if (!number) continue;
    if (also.field == StepField::kLossScale) {
      SetScale(number->text, ScaleText::kRounded, fact);
    } else {
      fact->Set(also.field, number->value);
    }
  }
}

// Whether a message of the pattern's was read.
bool PatternReader::ReadPattern(const LinePattern& pattern,
                                std::string_view line, FactList* facts) {
  const bool first = pattern.text.starts_with('^');
  const std::string_view text = pattern.text.substr(first ? 1 : 0);
  const std::string_view literal = Literal(text);
  // Of messages that are glued together each begins with this.
  const std::string_view head = text.substr(0, text.find_first_of("{*"));
  bool read = false;
  size_t at = first ? SkipBlanks(line, 0) : line.find(literal);
  while (at != kNowhere) {
    const size_t next = head.empty() ? kNowhere : line.find(head, at + 1);
    const std::string_view message = line.substr(at, next - at);
    Numbers numbers;
    numbers.fact.at = static_cast<uint32_t>(at);
    if (Match(text, message, 0, &numbers) != kNowhere) {
      ReadAlso(pattern, message, &numbers.fact);
      Take(pattern, &numbers, facts);
      read = true;
    }
    if (first || literal.empty()) break;
    at = line.find(literal, at + 1);
  }
  return read;
}

void PatternReader::Read(std::string_view line, FactList* facts) {
  const bool never = std::any_of(
      program_.never.begin(), program_.never.end(),
      [line](std::string_view word) { return line.find(word) != kNowhere; });
  if (never) return;
  for (const LinePattern& pattern : program_.lines) {
    if (ReadPattern(pattern, line, facts)) return;
  }
}

void PatternReader::Take(const LinePattern& pattern, Numbers* numbers,
                         FactList* facts) {
  switch (pattern.role) {
    case LinePattern::Role::kStep:
      Tell(numbers, facts);
      return;
    case LinePattern::Role::kScale:
      numbers->fact.kind = LogFact::Kind::kScale;
      facts->push_back(numbers->fact);
      return;
    case LinePattern::Role::kSkip:
      // Nothing was applied; the norm is of an update that no step had.
      numbers->fact.kind = LogFact::Kind::kOverflow;
      numbers->fact.Unset(StepField::kGradNorm);
      numbers->fact.applied = false;
      numbers->fact.of_next_line = true;
      facts->push_back(numbers->fact);
      return;
    case LinePattern::Role::kBegin:
      if (open_ && open_->fact.present != 0) Tell(&*open_, facts);
      open_ = *numbers;
      return;
    case LinePattern::Role::kPart:
      if (open_) Add(*numbers, &*open_);
      return;
    case LinePattern::Role::kEnd:
      if (!open_) return;
      Add(*numbers, &*open_);
      if (open_->fact.present != 0) Tell(&*open_, facts);
      open_.reset();
      return;
  }
}

void PatternReader::Add(const Numbers& from, Numbers* to) {
  if (from.fact.step) to->fact.step = from.fact.step;
  if (std::isfinite(from.fact.score)) to->fact.score = from.fact.score;
  uint32_t left = from.fact.present & ~to->fact.present;
  // Of several losses the one that is not finite must be seen.
  if (from.fact.has(StepField::kLoss) &&
      !std::isfinite(from.fact[StepField::kLoss])) {
    left |= 1u << static_cast<int>(StepField::kLoss);
  }
  for (; left != 0; left &= left - 1) {
    const auto field = static_cast<StepField>(std::countr_zero(left));
    to->fact.Set(field, from.fact[field]);
  }
}

void PatternReader::Tell(Numbers* numbers, FactList* facts) {
  using Epochs = PatternProgram::Epochs;
  LogFact& fact = numbers->fact;
  const bool says = fact.has(StepField::kLoss) ||
                    fact.has(StepField::kGradNorm) ||
                    fact.has(StepField::kLossScale);
  if (!says) return;
  fact.means = program_.means;
  if (fact.step) {
    facts->push_back(fact);
    return;
  }
  const int64_t epoch = numbers->epoch.value_or(0);
  const int64_t batch = numbers->batch.value_or(0);
  switch (program_.epochs) {
    case Epochs::kNone:
      return;
    case Epochs::kSeen:
      fact.step = steps_.Step(epoch, batch, numbers->whole);
      break;
    case Epochs::kFromOne:
      fact.step = std::max<int64_t>(0, epoch - 1) * numbers->whole + batch;
      break;
    case Epochs::kFromZero:
      fact.step = epoch * numbers->whole + batch;
      break;
    case Epochs::kStep:
      fact.step = epoch;
      fact.of_epoch = true;
      break;
  }
  facts->push_back(fact);
}

}  // namespace nanwatch
