// Logs of no known program: names and numbers in any punctuation.
//
//  step=10 loss=1.2 scale=65536
//  [12:01:07] step: 10, loss: 1.2, loss scale: 65536.0 | grad norm: 0.7
//  Step 10 | loss=tensor(1.2, device='cuda:0') lr=[1e-4]

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "logs/column_names.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr auto kNameCharacters = [] {
  std::array<bool, 256> names{};
  constexpr std::string_view kMarks = "_/-.@";
  for (size_t i = 0; i < names.size(); ++i) {
    const char c = static_cast<char>(i);
    names[i] = IsLetter(c) || IsDigit(c) || kMarks.find(c) != kMarks.npos;
  }
  return names;
}();
bool IsNameCharacter(char c) {
  return kNameCharacters[static_cast<uint8_t>(c)];
}

// Words in front of the first name that make a line another kind's.
bool IsEvaluation(std::string_view prose) {
  constexpr std::string_view kWords[] = {
      "val",        "valid",      "validation", "eval",    "evaluation",
      "evaluating", "validating", "test",       "testing", "dev"};
  size_t at = 0;
  while (at < prose.size()) {
    while (at < prose.size() && !IsLetter(prose[at])) ++at;
    const size_t begin = at;
    while (at < prose.size() && IsLetter(prose[at])) ++at;
    std::array<char, 12> low;
    const size_t size = at - begin;
    if (size == 0 || size > low.size()) continue;
    const char initial = static_cast<char>(prose[begin] | 0x20);
    if (initial != 'v' && initial != 'e' && initial != 't' && initial != 'd') {
      continue;
    }
    std::transform(prose.begin() + static_cast<ptrdiff_t>(begin),
                   prose.begin() + static_cast<ptrdiff_t>(at), low.begin(),
                   [](char c) { return static_cast<char>(c | 0x20); });
    const std::string_view word(low.data(), size);
    if (std::find(std::begin(kWords), std::end(kWords), word) !=
        std::end(kWords)) {
      return true;
    }
  }
  return false;
}

// The high bit of each byte of `word` that is `c`, and perhaps of bytes above
// the lowest of them.
constexpr uint64_t BytesThatAre(char c, uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const uint64_t other = word ^ kOnes * static_cast<uint8_t>(c);
  return (other - kOnes) & ~other & kOnes << 7;
}

// The next = or :; the line's size: there is none.
size_t NextSign(std::string_view line, size_t at) {
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + sizeof(uint64_t) <= line.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, line.data() + at, sizeof word);
      const uint64_t found = BytesThatAre('=', word) | BytesThatAre(':', word);
      if (found != 0)
        return at + static_cast<size_t>(std::countr_zero(found)) / 8;
    }
  }
  while (at < line.size() && line[at] != '=' && line[at] != ':') ++at;
  return at;
}

// Behind the number at `at`, if there is one, with what is glued to it: no
// usual name begins with a digit. So what is before a name is the same in each
// line.
size_t BehindNumber(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && line[end] == ' ') ++end;
  if (end + 1 < line.size() && line[end] == '-') ++end;
  if (end >= line.size() || !IsDigit(line[end])) return at;
  while (end < line.size() && IsNameCharacter(line[end])) ++end;
  return end;
}

// A name at the end of a text: what it means, and its size with what follows it
// there; 0: none.
struct Ending {
  ColumnMeaning meaning = ColumnMeaning::kNothing;
  size_t size = 0;
};

// Names before the signs of a log, which holds few texts there, again and
// again.
class NamesBefore {
 public:
  explicit NamesBefore(const ColumnMap& map) : names_(map) {}

  bool mapped() const { return names_.mapped(); }
  // The longest name at the end of `text` that means something.
  Ending Find(std::string_view text) {
    std::string_view name = text;
    while (!name.empty() &&
           (name.back() == ' ' || name.back() == '\'' || name.back() == '"')) {
      name.remove_suffix(1);
    }
    if (!names_.MayEnd(name)) return {};
    if (text.size() > kTextMax) return Look(text, name);
    Known& known = lately_[HashOfName(text) % lately_.size()];
    if (known.text != text) {
      known.text = text;
      known.ending = Look(text, name);
    }
    return known.ending;
  }

 private:
  struct Known {
    std::string text;
    Ending ending;
  };

  // `name`: `text` without what follows the name. Up to three words: "number of
  // updates".
  Ending Look(std::string_view text, std::string_view name) {
    size_t begin = name.size();
    std::array<size_t, 3> word{};
    size_t words = 0;
    while (words < word.size()) {
      const size_t end = begin;
      while (begin > 0 && IsNameCharacter(name[begin - 1])) --begin;
      if (begin == end) break;
      // Clocks and the like, of which a log is full.
      if (words == 0 && IsDigit(name[begin]) && !names_.mapped()) return {};
      word[words++] = begin;
      if (begin == 0 || name[begin - 1] != ' ') break;
      --begin;
    }
    while (words > 0) {
      const size_t from = word[--words];
      // The value before: "2.31 scale". No usual name begins with a digit.
      if (IsDigit(name[from]) && !names_.mapped()) continue;
      const ColumnMeaning meaning = names_.Of(name.substr(from));
      if (meaning != ColumnMeaning::kNothing) {
        return {meaning, text.size() - from};
      }
    }
    return {};
  }

  static constexpr size_t kTextMax = 64;
  ColumnNames names_;
  std::array<Known, 256> lately_;
};

class KeyValueReader : public LineReader {
 public:
  explicit KeyValueReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    bool found = false;
    size_t begin = BehindValue(line, 0);  // of what may be the next name
    size_t at = begin;
    for (; (at = NextSign(line, at)) < line.size(); at = begin) {
      const Ending name = names_.Find(line.substr(begin, at - begin));
      if (name.size > 0) {
        if (!found && IsEvaluation(line.substr(0, at - name.size))) return;
        if (!found) fact_.Begin(0);
        found = true;
        AddValue(name.meaning, line.substr(at + 1));
      }
      begin = BehindValue(line, at + 1);
    }
    if (!found || !fact_.SaysHealth()) return;
    if (!fact_.has_step()) AddLooseStep(line);
    const bool step =
        names_.mapped() ? fact_.SaysHealth() : fact_.LooksLikeStep();
    if (!step) return;
    if (fact_.has_step()) AddEpoch(line);
    fact_.Tell(facts);
  }

 private:
  size_t BehindValue(std::string_view line, size_t at) const {
    return names_.mapped() ? at : BehindNumber(line, at);
  }

  // The value that begins `text`: a number or a truth, behind what may be put
  // before it.
  void AddValue(ColumnMeaning meaning, std::string_view text) {
    size_t at = text.find_first_not_of(" \t'\"[(");
    if (at == std::string_view::npos) return;
    if (text.substr(at).starts_with("tensor(")) at += 7;
    const std::string_view rest = text.substr(at);
    if (const auto printed = Scan(rest).PrintedNumber()) {
      const std::string_view behind = rest.substr(printed->text.size());
      if (behind.starts_with('%')) {
        AddBar(meaning, behind);
      } else if (meaning == ColumnMeaning::kLossScale) {
        fact_.Add(meaning, printed->text, behind.empty());
      } else {
        fact_.AddNumber(meaning, printed->value);
      }
      return;
    }
    for (const std::string_view truth : {"True", "False", "true", "false"}) {
      if (rest.starts_with(truth)) fact_.Add(meaning, truth);
    }
  }

  // Behind the percentage of a progress bar, "Steps:  6%|#  | 180/3000 [": a
  // share of something is none of our numbers.
  void AddBar(ColumnMeaning meaning, std::string_view text) {
    Scan scan(text);
    if (meaning != ColumnMeaning::kStep || !scan.Skip("%|")) return;
    if (!scan.To("| ")) return;
    const std::optional<Ratio> bar = ReadRatio(&scan);
    if (bar) fact_.AddNumber(meaning, static_cast<double>(bar->part));
  }

  // "Step 10", "[iter 10/200]": a step is often told without punctuation.
  void AddLooseStep(std::string_view line) {
    for (const std::string_view word :
         {"step ", "Step ", "iter ", "Iter ", "iteration ", "Iteration "}) {
      const size_t found = line.find(word);
      if (found == std::string_view::npos) continue;
      if (found > 0 && IsLetter(line[found - 1])) continue;
      std::string_view rest = line.substr(found + word.size());
      rest.remove_prefix(std::min(rest.find_first_not_of(" #["), rest.size()));
      const std::optional<int64_t> step = Scan(rest).Integer();
      if (step && *step >= 0) {
        fact_.AddNumber(ColumnMeaning::kStep, static_cast<double>(*step));
        return;
      }
    }
  }

  // "Epoch [7/20]", "epoch: 7", "epoch=7": a word, and a number behind it.
  void AddEpoch(std::string_view line) {
    constexpr std::string_view kWord = "poch";
    size_t at = line.find(kWord, 1);
    for (; at != std::string_view::npos; at = line.find(kWord, at + 1)) {
      const char initial = line[at - 1];
      if (initial != 'e' && initial != 'E') continue;
      if (at > 1 && IsLetterOrMark(line[at - 2])) continue;
      std::string_view rest = line.substr(at + kWord.size());
      rest.remove_prefix(
          std::min(rest.find_first_not_of(" '\":=[#"), rest.size()));
      if (const std::optional<double> epoch = Scan(rest).Number()) {
        fact_.SetEpoch(*epoch);
        return;
      }
    }
  }
  // Of another name, "max_epoch".
  static bool IsLetterOrMark(char c) {
    return IsLetter(c) || c == '_' || c == '-';
  }

  NamesBefore names_;
  ColumnFact fact_{ScaleText::kRounded};
};

std::unique_ptr<LineReader> Make(const ColumnMap& map) {
  return std::make_unique<KeyValueReader>(map);
}

constexpr std::string_view kMarks[] = {"=", ":"};

}  // namespace

const LogFormat kKeyValue = {
    .name = "key_value",
    .title = "any program: step=10 loss=1.2 or step: 10, loss: 1.2",
    .part = LogFormat::Part::kGeneric,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Make,
};

}  // namespace nanwatch
