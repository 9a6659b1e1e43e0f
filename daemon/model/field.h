// A noun says once what it consists of:
//   template <typename A>
//   void Fields(A& a, Noun& n) {
//     a.Field("opened_step", n.opened_step);
//   }
// An archive reads or writes with it: StateWriter and StateReader the bytes of
// a checkpoint, MessageWriter and MessageReader (wire/message_fields.h)
// messages of history.proto and query.proto, JsonFields (json/fields.h) JSON.
// The name is that of the message's field, where a Time's ends in "_us", and
// the key in JSON.

#ifndef NANWATCH_MODEL_FIELD_H_
#define NANWATCH_MODEL_FIELD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "model/rule_id.h"

namespace nanwatch {

// How people see a field: in JSON, and in messages that have a word for it.
// What is stored holds every field, and goes by the name alone; a noun that
// says nothing is left out.
struct Shown {
  const char* key = "";  // in JSON; empty: the name; null: it is not shown
  const char* also = nullptr;  // a second key in JSON, of the same value
  bool said = true;  // false: it says nothing, and has neither key nor word
  size_t most = SIZE_MAX;  // items of a list in JSON, with their total beside
};

// An archive that writes for people, and never reads.
template <typename A>
concept Showing = A::kShows;

// Name of a rule; empty: not known.
using RuleNames = std::function<std::string(RuleId)>;

inline constexpr Shown kNotShown = {.key = nullptr};
constexpr Shown Key(const char* key) { return {.key = key}; }
constexpr Shown Where(bool said) { return {.said = said}; }
constexpr Shown AtMost(size_t most) { return {.most = most}; }

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_FIELD_H_
