#include "logs/in_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "logs/find_word.h"
#include "logs/named_number.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// `text` ends with the word "epoch", blanks and signs apart.
bool EndsWithEpoch(std::string_view text) {
  const size_t end = text.find_last_not_of(" :=#[(");
  if (end == std::string_view::npos) return false;
  return text.substr(0, end + 1).ends_with("poch") ||
         text.substr(0, end + 1).ends_with("POCH");
}

// A count in thousands, "24.5k".
std::optional<int64_t> ReadThousands(Scan* scan) {
  const std::string_view text = scan->rest();
  const size_t size = text.find_first_not_of("0123456789.");
  if (size == 0 || size >= text.size() || text[size] != 'k') {
    return std::nullopt;
  }
  const std::optional<double> number = WholeNumber(text.substr(0, size));
  if (!number) return std::nullopt;
  scan->Skip(text.substr(0, size + 1));
  return AsCount(std::round(*number * 1000));
}

// A count, perhaps with commas between its thousands: "8,000".
std::optional<int64_t> ReadLongCount(Scan* scan) {
  scan->SkipBlanks();
  if (const auto thousands = ReadThousands(scan)) return thousands;
  size_t size = 0;
  const std::string plain = WithoutThousands(scan->rest(), &size);
  if (plain.empty()) return scan->Integer();
  scan->Skip(scan->rest().substr(0, size));
  return AsCount(WholeNumber(plain));
}

// The number behind a word, "10", "#10", "[10/200"; of those that a line's
// numbers are of, "[0-20]", the last.
std::optional<StepPlace> NumberBehindWord(std::string_view rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" #["), rest.size()));
  Scan scan(rest);
  const std::optional<int64_t> step = ReadLongCount(&scan);
  if (!step || *step < 0 || scan.peek() == '%') return std::nullopt;
  // "0.31 s" is the time of one.
  const std::optional<double> number = Scan(rest).Number();
  if (number && *number != std::floor(*number)) return std::nullopt;
  StepPlace place{*step, 0, std::nullopt};
  if (Scan range = scan; range.Skip("-")) {
    const int64_t last = ReadCount(&range).value_or(-1);
    place.so_far = last > 0 && *step == 0 && range.peek() == ']';
    if (last >= *step && range.peek() == ']') place.step = last;
  }
  scan.SkipBlanks();
  if (scan.Skip("/")) place.whole = ReadLongCount(&scan).value_or(0);
  if (place.whole < 0 || place.whole > kCountMax) place.whole = 0;
  return place;
}

// Words for a step, without their first letters; the first that a line has.
struct StepWord {
  std::string_view rest;
  char initial;  // lower case
};
constexpr StepWord kStepWords[] = {
    {"tep", 's'},  {"teps", 's'},  {"ter", 'i'},    {"teration", 'i'},
    {"atch", 'b'}, {"pdate", 'u'}, {"pisode", 'e'}, {"ound", 'r'},
    {"pd", 'u'},   {"t", 'i'}};

}  // namespace

bool IsOfEach(std::string_view text) {
  constexpr std::string_view kWords[] = {"per", "each", "every", "a"};
  text = TrimBlanks(text);
  const std::string_view word = LastWord(text);
  return text.ends_with(word) && IsOneOf(LowerCase(word), kWords);
}

namespace {

// The number in kStepWords of the word at the end of `text`; their count: none.
size_t StepWordAtEnd(std::string_view text) {
  size_t i = 0;
  for (; i < std::size(kStepWords); ++i) {
    const auto& [rest, initial] = kStepWords[i];
    if (text.size() <= rest.size() || !text.ends_with(rest)) continue;
    const size_t at = text.size() - rest.size() - 1;
    if ((text[at] | 0x20) != initial) continue;
    const std::string_view before = text.substr(0, at);
    const bool whole = before.empty() || !IsLetterOrMark(before.back()) ||
                       before.ends_with("global_") ||
                       before.ends_with("train_");
    if (whole && !IsOfEach(before)) break;
  }
  return i;
}

// "Step 10", "[iter 10/200]". One pass: of most lines all words are looked at.
std::optional<StepPlace> BehindWord(std::string_view line) {
  std::optional<StepPlace> found;
  size_t best = std::size(kStepWords);
  for (size_t at = line.find(' '); at != std::string_view::npos;
       at = line.find(' ', at + 1)) {
    // "[step] 10" is "step 10".
    const size_t end = at > 0 && line[at - 1] == ']' ? at - 1 : at;
    const char last = end > 0 ? line[end - 1] : ' ';
    if (std::string_view("pshrnedt").find(last) == std::string_view::npos) {
      continue;
    }
    const size_t word = StepWordAtEnd(line.substr(0, end));
    if (word >= best) continue;
    const std::optional<StepPlace> place =
        NumberBehindWord(line.substr(at + 1));
    if (!place) continue;
    found = place;
    found->of_batches = kStepWords[word].initial == 'b';
    best = word;
    if (best == 0) break;
  }
  return found;
}

// Returns what read(rest) makes of the text behind a word "batch" and its sign,
// where it makes something of it.
template <typename Read>
auto BehindBatch(std::string_view line, Read read)
    -> decltype(read(std::string_view())) {
  for (size_t at = FindWord(line, "atch"); at != std::string_view::npos;
       at = FindWord(line, "atch", at + 1)) {
    if (at == 0 || (line[at - 1] | 0x20) != 'b') continue;
    if (at > 1 && IsLetterOrMark(line[at - 2])) continue;
    std::string_view rest = line.substr(at + 4);
    for (const std::string_view end : {"_idx", "_id"}) {
      if (rest.starts_with(end)) rest.remove_prefix(end.size());
    }
    rest.remove_prefix(
        std::min(rest.find_first_not_of(" '\":=[#"), rest.size()));
    if (const auto found = read(rest)) return found;
  }
  return std::nullopt;
}

// "batch: 10/625", "[batch=10/625]": of a size there is no ratio.
std::optional<StepPlace> RatioBehindBatch(std::string_view line) {
  return BehindBatch(
      line, [](std::string_view rest) -> std::optional<StepPlace> {
        Scan scan(rest);
        const std::optional<Ratio> ratio = ReadRatio(&scan);
        if (!ratio) return std::nullopt;
        return StepPlace{ratio->part, ratio->whole, std::nullopt};
      });
}

// "train 10.4kit/20.0kit", a bar that draws none.
std::optional<StepPlace> RatioOfIterations(std::string_view line) {
  for (size_t at = line.find("it/"); at != line.npos;
       at = line.find("it/", at + 1)) {
    const size_t begin = line.substr(0, at).find_last_of(" [(");
    Scan scan(line, begin == line.npos ? 0 : begin + 1);
    const std::optional<int64_t> part = ReadLongCount(&scan);
    if (!part || !scan.Skip("it/")) continue;
    const std::optional<int64_t> whole = ReadLongCount(&scan);
    if (!whole || *part > *whole || !scan.Skip("it")) continue;
    return StepPlace{*part, *whole, std::nullopt};
  }
  return std::nullopt;
}

// "Epoch 1: 15it [04:02, 18.7s/it, loss=2.3]", a bar that knows no whole: what
// follows is a clock.
std::optional<StepPlace> BarWithoutWhole(std::string_view line) {
  const size_t at = line.find("it [");
  if (at == line.npos || at + 4 == line.size() || !IsDigit(line[at + 4]))
    return std::nullopt;
  size_t begin = at;
  while (begin > 0 && (IsDigit(line[begin - 1]) || line[begin - 1] == '.' ||
                       line[begin - 1] == 'k')) {
    --begin;
  }
  Scan scan(line.substr(0, at), begin);
  const std::optional<int64_t> step = ReadLongCount(&scan);
  if (!step || !scan.done()) return std::nullopt;
  return StepPlace{*step, 0, std::nullopt};
}

// "Minibatch[ 501-1000]: ", of CNTK: the first and the last of those that the
// line's numbers are of.
std::optional<StepPlace> RangeOfBatches(std::string_view line) {
  constexpr std::string_view kWord = "atch[";
  const size_t at = line.find(kWord);
  if (at == line.npos) return std::nullopt;
  Scan scan(line, at + kWord.size());
  const std::optional<int64_t> first = ReadCount(&scan);
  if (!first || !scan.Skip("-")) return std::nullopt;
  const std::optional<int64_t> last = ReadCount(&scan);
  if (!last || *last < *first || !scan.Skip("]")) return std::nullopt;
  return StepPlace{*last, 0, std::nullopt};
}

// "[1,  2000] loss", of PyTorch's tutorial on CIFAR: epoch and step.
std::optional<StepPlace> PairInBrackets(std::string_view line) {
  Scan scan(line);
  scan.SkipBlanks();
  if (!scan.Skip("[")) return std::nullopt;
  const std::optional<int64_t> epoch = ReadCount(&scan);
  if (!epoch || !scan.Skip(",")) return std::nullopt;
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.Skip("]")) return std::nullopt;
  return StepPlace{*step, 0, *epoch};
}

// "[ 6400/60000]", "[640/60000 (1%)]"; of two, "[1/5][100/600]", the first is
// the epoch, as in "[3:96/100]". A date is none.
std::optional<StepPlace> RatioInBrackets(std::string_view line) {
  std::optional<StepPlace> found;
  size_t end = 0;  // behind the one that was found
  for (size_t at = line.find('['); at != std::string_view::npos;
       at = line.find('[', at + 1)) {
    if (found && at != end) break;
    Scan scan(line, at + 1);
    std::optional<Ratio> ratio = ReadRatio(&scan);
    std::optional<int64_t> epoch;
    if (found) epoch = found->step;
    if (!ratio) {
      scan = Scan(line, at + 1);
      epoch = ReadCount(&scan);
      if (epoch && scan.Skip(":")) ratio = ReadRatio(&scan);
    }
    if (!ratio) continue;
    if (EndsWithEpoch(line.substr(0, at))) continue;
    if (!scan.Skip("]") && !scan.rest().starts_with(" (")) continue;
    found = StepPlace{ratio->part, ratio->whole, epoch};
    end = scan.at();
  }
  return found;
}

// What begins a line, before a blank: "s=520 ", "#26 ".
std::optional<StepPlace> AtBeginning(std::string_view line) {
  static constexpr std::string_view kLetters = "stikn";
  const bool letter = line.size() > 2 && line[1] == '=' &&
                      kLetters.find(line[0]) != std::string_view::npos;
  const bool hash = line.size() > 1 && line[0] == '#' && IsDigit(line[1]);
  if (!letter && !hash) return std::nullopt;
  Scan scan(line, letter ? 2 : 1);
  const std::optional<int64_t> step = ReadCount(&scan);
  const char next = scan.peek();
  if (!step || (next != ' ' && next != '\t' && next != ',' && next != ':')) {
    return std::nullopt;
  }
  return StepPlace{*step, 0, std::nullopt};
}

}  // namespace

std::optional<StepPlace> RatioAtStart(std::string_view line) {
  Scan scan(line);
  scan.SkipBlanks();
  if (!IsDigit(scan.peek())) return std::nullopt;
  const std::optional<Ratio> ratio = ReadRatio(&scan);
  const bool ends =
      scan.Skip(";") || scan.Skip(" (") || scan.Skip(", ") || scan.Skip(": ");
  if (!ratio || !ends || ratio->part > ratio->whole) return std::nullopt;
  return StepPlace{ratio->part, ratio->whole, std::nullopt};
}

namespace {

// Behind a place in the epoch `rest` is a sign, the end, or a name and its
// sign: no word for what was counted ("850/1000 correct | loss").
bool EndsPlace(std::string_view rest) {
  const std::string_view next = TrimBlanks(rest);
  if (next.empty() || next.find_first_of(",;:|") == 0) return true;
  if (next.size() == rest.size() || !IsLetter(next[0])) return false;
  const size_t end = next.find_first_of(" :=|,;");
  return end != next.npos && (next[end] == ':' || next[end] == '=');
}

// "Epoch  1, 12200/37527; ppl", "Epoch 7/300 600/1000 loss", "| Epoch 14 |
// 600/1020 |": right behind an epoch's number stands the place in it. A date is
// none, nor a share of what is counted otherwise ("10/12 correct").
std::optional<StepPlace> RatioBehindEpoch(std::string_view line) {
  for (size_t at = FindWord(line, "poch", 1); at != std::string_view::npos;
       at = FindWord(line, "poch", at + 1)) {
    if ((line[at - 1] | 0x20) != 'e') continue;
    if (at > 1 && IsLetterOrMark(line[at - 2])) continue;
    Scan scan(line, at + 4);
    scan.SkipBlanks();
    if (scan.Skip(':')) scan.SkipBlanks();
    const bool bracket = scan.Skip('[');
    if (!IsDigit(scan.peek()) || !ReadCount(&scan)) continue;
    if (scan.Skip('/') && !ReadCount(&scan)) continue;
    const size_t epoch = scan.at();
    const bool apart = bracket && scan.Skip("](");  // "Epoch[1](11/1500);"
    scan.SkipBlanks();
    if (scan.Skip(',') || scan.Skip('|') || scan.Skip(';') || scan.Skip('-')) {
      scan.SkipBlanks();
    }
    if (scan.at() == epoch || !IsDigit(scan.peek())) continue;
    const std::optional<Ratio> ratio = ReadRatio(&scan);
    if (!ratio || ratio->part > ratio->whole) continue;
    if (bracket && (!apart || !scan.Skip(')'))) continue;
    if (EndsPlace(scan.rest())) {
      return StepPlace{ratio->part, ratio->whole, std::nullopt};
    }
  }
  return std::nullopt;
}

// "000 epoch, 02000 iter, loss": each number before its word.
std::optional<StepPlace> PairBeforeWords(std::string_view line) {
  Scan scan(line);
  const std::optional<int64_t> epoch = ReadCount(&scan);
  if (!epoch || (!scan.Skip(" epoch, ") && !scan.Skip(" Epoch, "))) {
    return std::nullopt;
  }
  const std::optional<int64_t> step = ReadCount(&scan);
  if (!step || !scan.Skip(" ")) return std::nullopt;
  const std::string_view rest = scan.rest();
  const size_t end = std::min(rest.find_first_of(",:; "), rest.size());
  const bool named = StepWordAtEnd(rest.substr(0, end)) < std::size(kStepWords);
  if (!named) return std::nullopt;
  return StepPlace{*step, 0, *epoch};
}

std::optional<StepPlace> AtEnd(std::string_view line) {
  line = TrimBlanks(line);
  const size_t blank = line.find_last_of(" |]");
  if (blank == std::string_view::npos) return std::nullopt;
  Scan scan(line, blank + 1);
  const std::optional<Ratio> ratio = ReadRatio(&scan);
  if (!ratio || !scan.done() || ratio->part > ratio->whole ||
      EndsWithEpoch(line.substr(0, blank + 1))) {
    return std::nullopt;
  }
  return StepPlace{ratio->part, ratio->whole, std::nullopt};
}

}  // namespace

std::string_view LastWord(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && !IsLetter(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && IsLetter(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::optional<StepPlace> StepInWords(std::string_view line, bool* in_bar) {
  const std::optional<StepPlace> open = BarWithoutWhole(line);
  const auto named =
      open ? BehindWord(line.substr(0, line.find("it ["))) : std::nullopt;
  *in_bar = open && !named;
  if (open) return named ? named : open;
  for (const auto find :
       {BehindWord, RatioBehindBatch, RangeOfBatches, PairInBrackets,
        RatioInBrackets, RatioAtStart, RatioBehindEpoch, PairBeforeWords,
        RatioOfIterations, StepBehindDrawing}) {
    if (const std::optional<StepPlace> place = find(line)) return place;
  }
  const std::optional<BarPlace> bar = BarIn(line);
  *in_bar = bar.has_value();
  if (bar) return bar->step;
  const std::optional<StepPlace> place = AtBeginning(line);
  return place ? place : AtEnd(line);
}

std::optional<StepPlace> CountOfBatch(std::string_view line) {
  const auto batch = BehindBatch(line, [](std::string_view rest) {
    Scan scan(rest);
    const std::optional<int64_t> count = ReadLongCount(&scan);
    const char next = scan.peek();
    const bool whole = next == '\0' || next == ' ' || next == ',' ||
                       next == '|' || next == ']' || next == '\t';
    return whole ? count : std::nullopt;
  });
  const auto epoch = AsCount(EpochInWords(line));
  if (!batch) return std::nullopt;
  return StepPlace{*batch, 0, epoch};
}

}  // namespace nanwatch
