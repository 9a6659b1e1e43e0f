#include "logs/loss_series.h"

#include <algorithm>
#include <cmath>

#include "base/fnv1a.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Also of other alphabets.
bool IsOfAlphabet(char c) {
  return IsLetter(c) || static_cast<uint8_t>(c) >= 0x80;
}
bool IsOfWord(char c) {
  return IsOfAlphabet(c) || IsDigit(c) || c == '_' || c == '/' || c == '.' ||
         c == '-' || c == '+' || c == ':' || c == '@';
}

// Of ASCII, as it goes into a terminal and onto the wire.
bool IsPlain(std::string_view word) {
  return std::none_of(word.begin(), word.end(),
                      [](char c) { return static_cast<uint8_t>(c) >= 0x80; });
}

// What programs print in place of a number.
bool StandsForNumber(std::string_view word) {
  constexpr std::string_view kWords[] = {"nan",  "NaN",   "NAN",  "inf",
                                         "Inf",  "INF",   "True", "False",
                                         "true", "false", "None", "-inf"};
  return IsOneOf(word, kWords);
}

// One of two that work against each other.
bool IsAdversary(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "d",     "g",      "disc",      "discriminator", "netd",
      "gen",   "netg",   "generator", "adv",           "adversary",
      "actor", "critic", "policy",    "value",         "pi",
      "vf",    "q"};
  std::string small = LowerCase(word.substr(word.rfind('/') + 1));
  for (const std::string_view end : {"_loss", "/loss", "-loss", "loss"}) {
    if (small.size() > end.size() && small.ends_with(end)) {
      small.resize(small.size() - end.size());
      break;
    }
  }
  return IsOneOf(small, kWords);
}

// The next word at or behind `*at` that begins with no digit; empty: none.
std::string_view NextWord(std::string_view text, size_t* at) {
  while (*at < text.size()) {
    while (*at < text.size() && !IsOfWord(text[*at])) ++*at;
    const size_t begin = *at;
    while (*at < text.size() && IsOfWord(text[*at])) ++*at;
    std::string_view word = text.substr(begin, *at - begin);
    // "2026-11-27T13:05:21", "1e-05", "-3", "loss:", "rank3".
    while (!word.empty() && !IsOfAlphabet(word.back())) word.remove_suffix(1);
    if (word.empty() || StandsForNumber(word)) continue;
    if (IsOfAlphabet(word.front()) || word.front() == '_') return word;
  }
  return {};
}

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0;
  for (std::string_view word = NextWord(text, &at); !word.empty();
       word = NextWord(text, &at)) {
    words.push_back(word);
  }
  return words;
}

// One is the other with fewer digits.
bool IsRounded(double a, double b) {
  constexpr double kDigits = 1e-3;  // of itself; ours
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return std::isnan(a) ? std::isnan(b) : a == b;
  }
  return std::fabs(a - b) <= kDigits * std::max(std::fabs(a), std::fabs(b));
}

// Returns the last word of `text` before what ends `other`, too, which is the
// nearest to the loss: "pixel" of "[3] took time epoch pixel loss", beside
// "[3] time iter loss"; empty: there is none.
std::string_view LastOwnWord(std::string_view text, std::string_view other) {
  const std::vector<std::string_view> words = WordsOf(text);
  const std::vector<std::string_view> others = WordsOf(other);
  size_t own = words.size();
  size_t its = others.size();
  while (own > 0 && its > 0 && words[own - 1] == others[its - 1]) {
    --own;
    --its;
  }
  while (own > 1 && LowerCase(words[own - 1]) == "loss") --own;
  return own == 0 ? std::string_view() : words[own - 1];
}

}  // namespace

uint32_t NumberOfWords(std::string_view text) {
  Fnv1a hash;
  size_t at = 0;
  for (std::string_view word = NextWord(text, &at); !word.empty();
       word = NextWord(text, &at)) {
    hash.PutSized(word);
  }
  return static_cast<uint32_t>(hash.value()) | 1;
}

std::string LastNameOf(std::string_view text, size_t most) {
  size_t at = 0;
  std::string_view last;
  for (std::string_view word = NextWord(text, &at); !word.empty();
       word = NextWord(text, &at)) {
    last = word;
  }
  return IsPlain(last) ? std::string(last.substr(0, most)) : "";
}

bool DifferInLastWord(std::string_view text, std::string_view other) {
  size_t at = 0;
  size_t its = 0;
  std::string_view word = NextWord(text, &at);
  std::string_view beside = NextWord(other, &its);
  while (!word.empty() && word == beside) {
    word = NextWord(text, &at);
    beside = NextWord(other, &its);
  }
  return !word.empty() && !beside.empty() && NextWord(text, &at).empty() &&
         NextWord(other, &its).empty();
}

void LossWords::Note(uint32_t words, std::string_view before) {
  if (words == newest_) return;
  newest_ = words;
  const bool known =
      std::any_of(texts_.begin(), texts_.end(),
                  [words](const auto& one) { return one.first == words; });
  if (!known && texts_.size() < kMax) {
    texts_.emplace_back(words, before.substr(0, kTextMax));
  }
}

std::string_view LossWords::TextOf(uint32_t words) const {
  for (const auto& [number, text] : texts_) {
    if (number == words) return text;
  }
  return {};
}

LossSeries::Kind* LossSeries::Find(uint32_t words) {
  for (size_t i = 0; i < known_; ++i) {
    if (kinds_[i].words == words) return &kinds_[i];
  }
  if (known_ == kMax) {
    crowded_ = true;
    return nullptr;
  }
  kinds_[known_].words = words;
  return &kinds_[known_++];
}

size_t LossSeries::Of(uint32_t words, std::optional<int64_t> step,
                      const LossWords& texts, bool in_turn) {
  ++lines_;
  Kind* const kind = Find(words);
  if (kind == nullptr) return 0;
  const Kind& other = kinds_[newest_];
  const bool first = kind == &kinds_[0];
  const bool copies = kind->again > 0 || kind->echoed;
  if (kind != &other && kind->series == 0 && !first && !crowded_ && !copies) {
    kind->shared += step && *step == other.step ? 1 : 0;
    kind->turns = lines_ - kind->line <= kNear ? kind->turns + 1 : 0;
    const bool named =
        kind->shared > 0 &&
        DifferInLastWord(texts.TextOf(kind->words), texts.TextOf(other.words));
    if (in_turn || named || kind->shared >= kShared || kind->turns >= kTurns) {
      kind->series = several_++;
      Name(*kind, other, texts);
    }
  }
  kind->step = step.value_or(-1);
  kind->line = lines_;
  newest_ = static_cast<size_t>(kind - kinds_.data());
  return kind->series;
}

bool LossSeries::SaysAgain(uint32_t words, std::optional<int64_t> step,
                           double loss) {
  Kind* const kind = Find(words);
  if (kind == nullptr || kind->series != 0) return false;
  Kind& other = kinds_[newest_];
  const bool beside =
      lines_ > 0 && kind != &other && (!step || *step == other.step);
  const bool again = beside && IsRounded(loss, other.loss);
  if (beside) other.echoed = again;
  kind->loss = loss;
  kind->again = again ? kind->again + 1 : 0;
  return kind->again > kShared;
}

bool LossSeries::IsOther(uint32_t words) const {
  const Kind* const end = kinds_.data() + known_;
  return std::any_of(kinds_.data(), end, [words](const Kind& kind) {
    return kind.words == words && kind.series != 0;
  });
}

void LossSeries::Name(const Kind& own, const Kind& other,
                      const LossWords& texts) {
  size_t at = 0;
  size_t its = 0;
  std::string_view word;
  std::string_view beside;
  do {
    word = NextWord(texts.TextOf(own.words), &at);
    beside = NextWord(texts.TextOf(other.words), &its);
  } while (!word.empty() && word == beside);
  adversaries_ |= IsAdversary(word) || IsAdversary(beside);
  const std::string_view last =
      LastOwnWord(texts.TextOf(own.words), texts.TextOf(other.words));
  if (!last.empty()) word = last;
  names_[own.series] = !word.empty() && IsPlain(word)
                           ? std::string(word.substr(0, kNameMax))
                           : std::to_string(own.series);
}

}  // namespace nanwatch
