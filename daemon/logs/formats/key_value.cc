// Logs of no known program: names and numbers in any punctuation.
//
//  step=10 loss=1.2 scale=65536
//  [12:01:07] step: 10, loss: 1.2, loss scale: 65536.0 | grad norm: 0.7
//  Step 10 | loss=tensor(1.2, device='cuda:0') lr=[1e-4]
//  Train Epoch: 1 [640/60000 (1%)] Loss: 2.3
//  step 10: train loss 1.2, val loss 1.3

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/line_template.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
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

// Words before "scale" that leave it a loss scale's: "current scale". Others
// have scales, too: "Logit Scale", "guidance scale".
bool MaySpeakOfLossScale(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "new", "current", "now",  "the",      "fp16", "amp",    "dynamic", "nan",
      "inf", "mixed",   "half", "gradient", "step", "scaler", "is",      "and"};
  std::array<char, 8> low{};
  if (word.size() > low.size()) return false;
  std::transform(word.begin(), word.end(), low.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  const std::string_view known(low.data(), word.size());
  return std::find(std::begin(kWords), std::end(kWords), known) !=
         std::end(kWords);
}

bool MayPrecedeValue(char c) {
  return c == ' ' || c == '\t' || c == '\'' || c == '"' || c == '[' || c == '(';
}

// "scale" alone, whatever of.
bool IsPlainScale(std::string_view name) {
  return name == "scale" || name == "Scale" || name == "SCALE";
}

// The number that begins `text`, where commas part its thousands ("65,536"):
// without them. Empty: it has none. "1,200" is no list, which has blanks.
std::string WithoutThousands(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && IsDigit(text[at])) ++at;
  const bool parts = at + 4 <= text.size() && text[at] == ',';
  if (at == 0 || at > 3 || !parts || text[0] == '0') return "";
  std::string plain(text.substr(0, at));
  bool parted = false;
  while (at + 4 <= text.size() && text[at] == ',' && IsDigit(text[at + 1]) &&
         IsDigit(text[at + 2]) && IsDigit(text[at + 3])) {
    plain += text.substr(at + 1, 3);
    at += 4;
    parted = true;
  }
  if (!parted ||
      (at < text.size() && IsNameCharacter(text[at]) && text[at] != '.')) {
    return "";
  }
  if (at < text.size() && text[at] == '.') {
    const size_t point = at++;
    while (at < text.size() && IsDigit(text[at])) ++at;
    plain += text.substr(point, at - point);
  }
  return plain;
}

// A name at the end of a text: what it means, and its size with what follows it
// there; 0: none.
struct Ending {
  ColumnMeaning meaning = ColumnMeaning::kNothing;
  size_t size = 0;
  bool evaluation = false;  // a loss, and no training's: "Val Loss"
};

// Names before the signs of a log, which holds few texts there, again and
// again.
class NamesBefore {
 public:
  explicit NamesBefore(const ColumnMap& map) : names_(map) {}

  bool mapped() const { return names_.mapped(); }
  const std::vector<std::pair<std::string, ColumnMeaning>>& map() const {
    return names_.map();
  }
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
    const size_t all = words;
    while (words > 0) {
      const size_t from = word[--words];
      // The value before: "2.31 scale". No usual name begins with a digit.
      if (IsDigit(name[from]) && !names_.mapped()) continue;
      const ColumnMeaning meaning = names_.Of(name.substr(from));
      if (meaning == ColumnMeaning::kNothing) continue;
      if (meaning == ColumnMeaning::kLossScale && words == 0 && all > 1 &&
          !names_.mapped() && IsLetter(name[word[1]]) &&
          !MaySpeakOfLossScale(name.substr(word[1], from - 1 - word[1])) &&
          IsPlainScale(name.substr(from))) {
        return {};
      }
      const bool loss = meaning == ColumnMeaning::kLoss ||
                        meaning == ColumnMeaning::kMeanLoss ||
                        meaning == ColumnMeaning::kAdversaryLoss;
      if (!loss || names_.mapped() || from == 0) {
        return {meaning, text.size() - from};
      }
      // "Val Loss", "Val. Loss".
      const size_t end = text.find_last_not_of(' ', from - 1);
      if (end == std::string_view::npos) return {meaning, text.size() - from};
      const size_t blank = text.find_last_of(" \t,|;(", end);
      const size_t before = blank == std::string_view::npos ? 0 : blank + 1;
      const bool evaluation = IsEvaluation(text.substr(before, from - before));
      return {meaning, text.size() - (evaluation ? before : from), evaluation};
    }
    return {};
  }

  static constexpr size_t kTextMax = 64;
  ColumnNames names_;
  std::array<Known, 256> lately_;
};

// A value whose name was found, and where it begins.
struct PlacedValue {
  ColumnMeaning meaning;
  size_t at;
};

// The step line that a log prints again and again: once its names were found,
// they need not be looked for.
class UsualLine {
 public:
  // A step line, as it was read. REQUIRES: what it says depends on `values` and
  // `bar` alone, and on its words.
  void Note(std::string_view line, const std::optional<BarPlace>& bar,
            const std::vector<PlacedValue>& values) {
    // Two kinds of lines in turns: one of them is known.
    if (known_ && ++others_ < kOthers) return;
    known_ = Learn(line, bar, values);
    others_ = 0;
  }

  bool known() const { return known_; }

  // `bar`: null: the line has none.
  bool Match(std::string_view line, const BarPlace* bar) {
    if (!known_ || (bar != nullptr) != in_bar_) return false;
    const bool same = bar != nullptr
                          ? head_.Match(line.substr(0, bar->begin), &heads_) &&
                                tail_.Match(line.substr(bar->end), &tails_)
                          : head_.Match(line, &heads_);
    if (!same) return false;
    others_ = 0;
    behind_ = bar != nullptr ? bar->end : 0;
    return true;
  }

  // Of the line that Match() found to be one.
  template <typename Read>
  void ForEachValue(Read read) const {
    for (const Value& value : values_) {
      read(PlacedValue{value.meaning, value.in_tail
                                          ? behind_ + tails_[value.number]
                                          : heads_[value.number]});
    }
  }

 private:
  struct Value {
    ColumnMeaning meaning;
    bool in_tail;
    size_t number;  // of the head's or tail's
  };
  // Other step lines in a row, after which they are the usual ones.
  static constexpr int kOthers = 4;

  bool Learn(std::string_view line, const std::optional<BarPlace>& bar,
             const std::vector<PlacedValue>& values) {
    // The number of an epoch may stand anywhere.
    if (line.find("poch") != std::string_view::npos) return false;
    in_bar_ = bar.has_value();
    const size_t end = bar ? bar->begin : line.size();
    const size_t behind = bar ? bar->end : line.size();
    if (!head_.Learn(line.substr(0, end)) ||
        !tail_.Learn(line.substr(behind)) ||
        !head_.Match(line.substr(0, end), &heads_) ||
        !tail_.Match(line.substr(behind), &tails_)) {
      return false;
    }
    values_.clear();
    for (const PlacedValue& value : values) {
      const bool in_tail = value.at >= behind;
      const LineTemplate& part = in_tail ? tail_ : head_;
      const auto first = in_tail ? tails_.begin() : heads_.begin();
      const auto last = first + static_cast<ptrdiff_t>(part.numbers());
      const auto place =
          std::find(first, last, value.at - (in_tail ? behind : 0));
      // "nan", "True": of other words there may be another value.
      if (place == last) return false;
      values_.push_back(
          {value.meaning, in_tail, static_cast<size_t>(place - first)});
    }
    return !values_.empty();
  }

  bool known_ = false;
  bool in_bar_ = false;
  int others_ = 0;
  LineTemplate head_;  // up to the bar; all of a line without one
  LineTemplate tail_;  // behind its clocks
  LineTemplate::Places heads_{};
  LineTemplate::Places tails_{};
  size_t behind_ = 0;  // the bar of the newest line
  std::vector<Value> values_;
};

class KeyValueReader : public LineReader {
 public:
  explicit KeyValueReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    const std::optional<BarPlace> bar = in_bar_ ? BarIn(line) : std::nullopt;
    values_.clear();
    // Of bars a log has very many, and their clocks hold no names.
    const bool clocks = bar && !names_.mapped();
    std::optional<size_t> name;  // where the first one begins
    const BarPlace place = bar.value_or(BarPlace());
    AddPairs(line, 0, clocks ? place.begin : line.size(), &name);
    const size_t before = name.value_or(clocks ? place.begin : 0);
    if (IsEvaluation(line.substr(0, before))) return;
    if (clocks) {
      const bool first = !name;
      AddPairs(line, place.end, line.size(), &name);
      if (first && name &&
          IsEvaluation(line.substr(place.end, *name - place.end))) {
        return;
      }
    }
    if (!name) fact_.Begin(0);
    const bool punctuated = name && fact_.SaysHealth();
    if (!punctuated &&
        (names_.mapped() ? !AddMapped(line) : !AddLossInWords(line))) {
      if (const auto epoch = EpochAlone(line)) epoch_ = *epoch;
      return;
    }
    const bool named_step = fact_.has_step();
    if (!named_step) AddStep(line, bar);
    if (!fact_.has_epoch()) AddEpoch(line);
    const bool step =
        names_.mapped() ? fact_.SaysHealth() : fact_.LooksLikeStep();
    if (step) {
      punctuated_ |= punctuated && fact_.fact().has(StepField::kLoss);
      fact_.Tell(facts);
      if (punctuated && (named_step || bar) && !names_.mapped()) {
        usual_.Note(line, bar, values_);
      }
    } else if (name) {
      HoldAlone(line.substr(0, *name), facts);
    }
  }

  // Its names stand where they stood.
  bool ReadUsual(std::string_view line, FactList* facts) override {
    if (!usual_.known()) return false;
    const std::optional<BarPlace> bar = in_bar_ ? BarIn(line) : std::nullopt;
    if (!usual_.Match(line, bar ? &*bar : nullptr)) return false;
    fact_.Begin(0);
    usual_.ForEachValue([this, line](const PlacedValue& value) {
      AddValue(value.meaning, line.substr(value.at));
    });
    if (!fact_.SaysHealth()) return true;
    if (!fact_.has_step() && bar) AddStep(line, bar);
    if (epoch_ >= 0) fact_.SetEpoch(static_cast<double>(epoch_));
    if (fact_.LooksLikeStep()) fact_.Tell(facts);
    return true;
  }

 private:
  size_t BehindValue(std::string_view line, size_t at) const {
    return names_.mapped() ? at : BehindNumber(line, at);
  }

  // The value that begins `text`: a number or a truth, behind what may be put
  // before it.
  void AddValue(ColumnMeaning meaning, std::string_view text) {
    size_t at = 0;
    while (at < text.size() && MayPrecedeValue(text[at])) ++at;
    if (at == text.size()) return;
    if (text.substr(at).starts_with("tensor(")) at += 7;
    const std::string_view rest = text.substr(at);
    if (const auto printed = Scan(rest).PrintedNumber()) {
      AddPrinted(meaning, *printed, rest);
      return;
    }
    for (const std::string_view truth : {"True", "False", "true", "false"}) {
      if (rest.starts_with(truth)) fact_.Add(meaning, truth);
    }
  }

  // The number that begins `rest`.
  void AddPrinted(ColumnMeaning meaning, const Scan::Printed& printed,
                  std::string_view rest) {
    const std::string_view behind = rest.substr(printed.text.size());
    const char next = behind.empty() ? '\0' : behind.front();
    if (next == ',') {
      if (const std::string plain = WithoutThousands(rest); !plain.empty()) {
        fact_.Add(meaning, plain);
        return;
      }
    }
    if (next == '%') {
      AddBar(meaning, behind);
    } else if (meaning == ColumnMeaning::kLossScale) {
      fact_.AddScale(printed.text, printed.value, behind.empty());
    } else {
      fact_.AddNumber(meaning, printed.value);
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

  // Gathers the names before a sign, and their values, from `from` to `end`.
  // `*first`: where the first of the line begins, if there is none yet.
  void AddPairs(std::string_view line, size_t from, size_t end,
                std::optional<size_t>* first) {
    const std::string_view part = line.substr(0, end);
    size_t begin = BehindValue(part, from);  // of what may be the next name
    size_t at = begin;
    for (; (at = NextSign(part, at)) < end; at = begin) {
      const Ending name = names_.Find(part.substr(begin, at - begin));
      if (name.size > 0) {
        if (!*first) {
          *first = at - name.size;
          fact_.Begin(0);
        }
        if (!name.evaluation) {
          AddValue(name.meaning, line.substr(at + 1));
          values_.push_back({name.meaning, at + 1});
        }
      }
      begin = BehindValue(part, at + 1);
    }
  }

  // Of a map's columns whose numbers stand behind a blank. False: none does.
  bool AddMapped(std::string_view line) {
    for (const auto& [column, meaning] : names_.map()) {
      const auto number =
          NumberBehind(line, column + " ", LastNumber::kIsWhole);
      if (number) fact_.AddNumber(meaning, number->value);
    }
    return fact_.SaysHealth();
  }

  // Only where none of the log's losses has a sign before it: else that is
  // prose.
  bool AddLossInWords(std::string_view line) {
    if (punctuated_) return false;
    const std::optional<double> loss = LossInWords(line);
    if (!loss) return false;
    fact_.AddNumber(ColumnMeaning::kLoss, *loss);
    if (const auto scale = LossScaleInWords(line)) {
      const bool ends_line = scale->text.end() == line.end();
      fact_.AddScale(scale->text, scale->value, ends_line);
    }
    if (const auto norm = GradNormInWords(line)) {
      fact_.AddNumber(ColumnMeaning::kGradNorm, norm->value);
    }
    return true;
  }

  void AddStep(std::string_view line, const std::optional<BarPlace>& bar) {
    const std::optional<StepPlace> place =
        bar ? std::optional(bar->step) : StepInWords(line, &in_bar_);
    if (!place) return;
    fact_.AddNumber(ColumnMeaning::kStep, static_cast<double>(place->step));
    fact_.SetWhole(place->whole);
    if (place->epoch) fact_.SetEpoch(static_cast<double>(*place->epoch));
  }

  // The line's own, or that of the newest line that says nothing else.
  void AddEpoch(std::string_view line) {
    if (const std::optional<double> epoch = EpochInWords(line)) {
      epoch_ = -1;
      fact_.SetEpoch(*epoch);
    } else if (epoch_ >= 0) {
      fact_.SetEpoch(static_cast<double>(epoch_));
    }
  }

  // "Loss: 2.3" and nothing else of ours. A few such lines may be anything; of
  // more each is a step.
  void HoldAlone(std::string_view before, FactList* facts) {
    const bool begins = std::none_of(before.begin(), before.end(), IsLower);
    if (!begins || fact_.steps_seen() || !fact_.fact().has(StepField::kLoss)) {
      return;
    }
    alone_.push_back(fact_.fact());
    if (alone_.size() < kAlone && !alone_told_) return;
    for (const LogFact& fact : std::exchange(alone_, {})) {
      facts->push_back(fact);
    }
    alone_told_ = true;
  }

  static constexpr size_t kAlone = 3;

  NamesBefore names_;
  UsualLine usual_;
  std::vector<PlacedValue> values_;  // of the line
  ColumnFact fact_{ScaleText::kRounded};
  bool in_bar_ = false;         // the newest step without a name was in a bar
  bool punctuated_ = false;     // a step's loss with a sign was told
  int64_t epoch_ = -1;          // of a line that said nothing else; -1: none
  std::vector<LogFact> alone_;  // that wait for others
  bool alone_told_ = false;
};

std::unique_ptr<LineReader> Make(const ColumnMap& map) {
  return std::make_unique<KeyValueReader>(map);
}

constexpr std::string_view kMarks[] = {"=",    ":",    "oss ",
                                       "OSS ", "poch", "POCH"};

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
