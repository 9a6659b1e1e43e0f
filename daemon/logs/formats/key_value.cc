// Logs of no known program: names and numbers in any punctuation.
//
//  step=10 loss=1.2 scale=65536
//  [12:01:07] step: 10, loss: 1.2, loss scale: 65536.0 | grad norm: 0.7
//  Step 10 | loss=tensor(1.2, device='cuda:0') lr=[1e-4]

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "logs/column_names.h"
#include "logs/formats/formats.h"
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

// The next = or :; the line's size: there is none.
size_t NextSign(std::string_view line, size_t at) {
  while (at < line.size() && line[at] != '=' && line[at] != ':') ++at;
  return at;
}

class KeyValueReader : public LineReader {
 public:
  explicit KeyValueReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    fact_.Begin(0);
    bool first = true;
    size_t begin = 0;  // of what may be the next name
    size_t at = 0;
    while ((at = NextSign(line, at)) < line.size()) {
      const size_t size = NameBefore(line.substr(begin, at - begin));
      if (size > 0) {
        if (first && IsEvaluation(line.substr(0, at - size))) return;
        first = false;
        AddValue(line.substr(at + 1));
      }
      begin = ++at;
    }
    if (!fact_.SaysHealth()) return;
    if (!fact_.has_step()) AddLooseStep(line);
    const bool step =
        names_.mapped() ? fact_.SaysHealth() : fact_.LooksLikeStep();
    if (step) fact_.Tell(facts);
  }

 private:
  // The longest name at the end of `text` that means something, which is left
  // in meaning_: its size with what follows it; 0: none.
  size_t NameBefore(std::string_view text) {
    std::string_view name = text;
    while (!name.empty() &&
           (name.back() == ' ' || name.back() == '\'' || name.back() == '"')) {
      name.remove_suffix(1);
    }
    if (!names_.MayEnd(name)) return 0;
    // Up to three words: "number of updates".
    size_t begin = name.size();
    std::array<size_t, 3> word{};
    size_t words = 0;
    while (words < word.size()) {
      const size_t end = begin;
      while (begin > 0 && IsNameCharacter(name[begin - 1])) --begin;
      if (begin == end) break;
      // Clocks and the like, of which a log is full.
      if (words == 0 && IsDigit(name[begin]) && !names_.mapped()) return 0;
      word[words++] = begin;
      if (begin == 0 || name[begin - 1] != ' ') break;
      --begin;
    }
    while (words > 0) {
      const size_t from = word[--words];
      // The value before: "2.31 scale". No usual name begins with a digit.
      if (IsDigit(name[from]) && !names_.mapped()) continue;
      meaning_ = names_.Of(name.substr(from));
      if (meaning_ != ColumnMeaning::kNothing) {
        return text.size() - from;
      }
    }
    return 0;
  }

  // The value that begins `text`: a number or a truth, behind what may be put
  // before it.
  void AddValue(std::string_view text) {
    size_t at = text.find_first_not_of(" \t'\"[(");
    if (at == std::string_view::npos) return;
    if (text.substr(at).starts_with("tensor(")) at += 7;
    const std::string_view rest = text.substr(at);
    if (const auto printed = Scan(rest).PrintedNumber()) {
      if (meaning_ == ColumnMeaning::kLossScale) {
        fact_.Add(meaning_, printed->text);
      } else {
        fact_.AddNumber(meaning_, printed->value);
      }
      return;
    }
    for (const std::string_view truth : {"True", "False", "true", "false"}) {
      if (rest.starts_with(truth)) fact_.Add(meaning_, truth);
    }
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

  ColumnNames names_;
  ColumnFact fact_{ScaleText::kRounded};
  ColumnMeaning meaning_ = ColumnMeaning::kNothing;
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
