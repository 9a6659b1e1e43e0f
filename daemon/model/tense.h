// Tense: whether a sentence speaks of what is or of what was.

#ifndef NANWATCH_MODEL_TENSE_H_
#define NANWATCH_MODEL_TENSE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace nanwatch {

enum class Tense : uint8_t { kPresent, kPast };

// Chooses the word: In(tense, "is", "was").
constexpr std::string_view In(Tense tense, std::string_view present,
                              std::string_view past) {
  return tense == Tense::kPresent ? present : past;
}

// A sentence while a trouble lasts, and once it is over.
struct Tensed {
  std::string now;
  std::string over;  // empty: the same
};

// Calls `say(tense)` for both.
template <typename Say>
Tensed InBothTenses(Say&& say) {
  Tensed both{std::string(say(Tense::kPresent)),
              std::string(say(Tense::kPast))};
  if (both.over == both.now) both.over.clear();
  return both;
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_TENSE_H_
