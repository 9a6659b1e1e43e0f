#include "logs/line_pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "logs/named_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kNowhere = std::string_view::npos;
// Nor anywhere further on: what is behind a '*' is not in the rest.
constexpr size_t kNever = kNowhere - 1;

bool IsPlace(size_t at) { return at < kNever; }

// The letters that `pattern` begins with, up to what stands for others.
std::string_view Literal(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of(" {*"));
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

// The number of a step that a place is for; none: it is for something else.
std::optional<StepField> FieldOf(std::string_view name) {
  if (name == "loss") return StepField::kLoss;
  if (name == "norm") return StepField::kGradNorm;
  if (name == "lr") return StepField::kLearningRate;
  if (name == "scale") return StepField::kLossScale;
  return std::nullopt;
}

// A number, or the truth that stands for one.
std::optional<Scan::Printed> ReadPrinted(Scan* scan) {
  scan->SkipBlanks();
  const std::string_view rest = scan->rest();
  if (scan->Skip("True")) return Scan::Printed{1, rest.substr(0, 4)};
  if (scan->Skip("False")) return Scan::Printed{0, rest.substr(0, 5)};
  return scan->PrintedNumber();
}

}  // namespace

bool PatternReader::Set(std::string_view name, std::string_view printed,
                        double value, Numbers* numbers) {
  LogFact& fact = numbers->fact;
  if (name == "scale") {
    SetScale(printed, value, ScaleText::kRounded, &fact);
  } else if (const std::optional<StepField> field = FieldOf(name)) {
    fact.Set(*field, value);
  }
  if (name == "objective") {
    fact.Set(StepField::kLoss, std::isnan(value) ? value : -value);
    fact.of_objective = true;
  }
  if (name == "part") {
    const bool first = !fact.has(StepField::kLoss);
    fact.Set(StepField::kLoss, first ? value : fact[StepField::kLoss] + value);
  }
  if (name == "term" && !std::isfinite(value)) {
    fact.Set(StepField::kLoss, value);
  }
  if (name == "score") fact.score = value;
  if (name == "overflow") fact.overflow = value != 0;
  if (name == "first") fact.step = 0;
  if (name == "first" && value != 0) return false;
  const bool counts = name == "step" || name == "epoch" || name == "batch" ||
                      name == "whole" || name == "rank";
  if (!counts) return true;
  const std::optional<int64_t> count = AsCount(value);
  if (!count || *count > kCountMax) return false;
  if (name == "step") fact.step = count;
  if (name == "epoch") numbers->epoch = count;
  if (name == "batch") numbers->batch = count;
  if (name == "whole") numbers->whole = *count;
  if (name == "rank") fact.rank = static_cast<int32_t>(*count);
  return true;
}

size_t PatternReader::ReadNumber(std::string_view name, std::string_view next,
                                 std::string_view line, size_t at,
                                 Numbers* numbers) {
  at = BehindBlanks(line, at);
  std::string_view rest = line.substr(at);
  // "12epoch": no other number is glued to a word.
  const std::string_view word = Literal(next);
  if (!word.empty() && IsLetter(word[0])) {
    rest = rest.substr(0, rest.find(word));
  }
  const bool listed = rest.starts_with('[');
  if (listed) rest.remove_prefix(1);
  const std::string_view inside = InsideCall(rest);
  Scan scan(inside);
  const std::optional<Scan::Printed> printed = ReadPrinted(&scan);
  if (!printed || !Set(name, printed->text, printed->value, numbers)) {
    return kNowhere;
  }
  // Another message begins there, with its clock.
  const bool cut = scan.peek() == '-' || scan.peek() == ':';
  if (next.empty() && cut) return kNowhere;
  if (inside.size() < rest.size() && !scan.To(")")) return kNowhere;
  if (listed) scan.Skip("]");
  return at + (listed ? 1 : 0) + rest.size() - scan.rest().size();
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
    if (end != kNever) *numbers = more;
    return end;
  }
  return kNever;
}

size_t PatternReader::Match(std::string_view text, std::string_view line,
                            size_t at, Numbers* numbers) {
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      const size_t from = std::exchange(at, BehindBlanks(line, at));
      const bool two = text.substr(++i).starts_with(' ');
      if (two && at - from < 2) return kNowhere;
      if (two) ++i;
      if (i == text.size() && at == line.size()) return kNowhere;
    } else if (text[i] == '*') {
      return MatchBehind(text.substr(i + 1), line, at, numbers);
    } else if (text[i] == '{') {
      const size_t end = text.find('}', i);
      const std::string_view name = text.substr(i + 1, end - i - 1);
      i = end + 1;
      const size_t behind =
          name.empty() ? BehindWord(line, at, text.substr(i))
                       : ReadNumber(name, text.substr(i), line, at, numbers);
      if (behind == at || behind == kNowhere) return kNowhere;
      at = behind;
    } else {
      if (at >= line.size() || line[at++] != text[i++]) return kNowhere;
    }
  }
  return at;
}

bool PatternReader::ReadAlso(const LinePattern& pattern,
                             std::string_view message, Numbers* numbers) {
  bool needs_loss = false;
  for (const std::string_view also : pattern.also) {
    const size_t open = also.find('{');
    const std::string_view name =
        also.substr(open + 1, also.find('}') - open - 1);
    needs_loss |= name == "loss";
    const std::optional<StepField> field = FieldOf(name);
    if (field && numbers->fact.has(*field)) continue;
    const size_t dollar = std::min(also.find('$'), also.size());
    const std::string_view end = also.substr(dollar);
    const auto number = NumberBehind(
        message, also.substr(0, open),
        end.empty() ? LastNumber::kMayBeTorn : LastNumber::kIsWhole);
    if (!number) continue;
    const size_t decimals = Decimals(number->text);
    const bool ends = number->text.end() == message.end();
    const bool cut =
        std::isfinite(number->value) &&
        (end == "$." ? ends && decimals == 0
                     : end.size() == 2 &&
                           decimals != static_cast<size_t>(end[1] - '0'));
    if (!cut) Set(name, number->text, number->value, numbers);
  }
  return !needs_loss || numbers->fact.has(StepField::kLoss);
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
  size_t at = first ? BehindBlanks(line, 0) : line.find(literal);
  while (at != kNowhere) {
    const size_t next = head.empty() ? kNowhere : line.find(head, at + 1);
    const std::string_view message = line.substr(at, next - at);
    Numbers numbers;
    numbers.fact.at = static_cast<uint32_t>(at);
    if (IsPlace(Match(text, message, 0, &numbers)) &&
        ReadAlso(pattern, message, &numbers)) {
      Take(pattern, &numbers, facts);
      read = true;
    }
    if (first || literal.empty()) break;
    at = line.find(literal, at + 1);
  }
  return read;
}

void PatternReader::Read(std::string_view line, FactList* facts) {
  for (const LinePattern& pattern : lines_) {
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
      numbers->fact.of_next_line = !habits_.means;
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
    case LinePattern::Role::kNothing:
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
  using Epochs = PatternHabits::Epochs;
  LogFact& fact = numbers->fact;
  const bool says = fact.has(StepField::kLoss) ||
                    fact.has(StepField::kGradNorm) ||
                    fact.has(StepField::kLossScale);
  if (!says) return;
  fact.means = habits_.means;
  if (!fact.step) {
    if (habits_.epochs == Epochs::kNone || !numbers->epoch) return;
    const int64_t epoch = *numbers->epoch;
    const int64_t batch = numbers->batch.value_or(0);
    const int64_t whole = numbers->whole;
    if (habits_.epochs == Epochs::kStep) {
      fact.step = epoch;
      fact.of_epoch = true;
    } else if (habits_.epochs == Epochs::kSeen || whole == 0) {
      fact.step = steps_.Step(epoch, batch, whole);
    } else {
      const bool from_one = habits_.epochs == Epochs::kFromOne;
      fact.step =
          std::max<int64_t>(0, epoch - (from_one ? 1 : 0)) * whole + batch;
    }
  }
  const int64_t before = std::exchange(told_, *fact.step);
  if (!habits_.once || before != told_) facts->push_back(fact);
}

}  // namespace nanwatch
