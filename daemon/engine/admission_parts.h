// What admission's files share: refusals and events as they make them.

#ifndef NANWATCH_ENGINE_ADMISSION_PARTS_H_
#define NANWATCH_ENGINE_ADMISSION_PARTS_H_

#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/admission.h"

namespace nanwatch {

inline Admitted Refuse(RefusalReason reason, std::string message,
                       std::string limit = "") {
  Admitted admitted;
  admitted.refused = RefusedMessage{.reason = reason,
                                    .message = std::move(message),
                                    .limit = std::move(limit)};
  return admitted;
}

// As wire/ and the logs write it.
inline std::string Hex(SessionId session) {
  char digits[16];
  const auto [end, error] =
      std::to_chars(std::begin(digits), std::end(digits), session, 16);
  return std::string(digits, end);
}

inline std::string NameOf(const RunKey& key) {
  return "run \"" + key.run_id + "\" attempt " + std::to_string(key.attempt);
}

// Set: refused, since the run is another user's.
inline std::optional<Admitted> NotTheirs(const RunKey& key,
                                         std::string_view owner,
                                         const Caller& caller) {
  if (MayChange(owner, caller)) return std::nullopt;
  return Refuse(RefusalReason::kForbidden,
                WhyNotChange(key.run_id, owner, caller));
}

inline Event MakeEvent(const RunKey& run, EventBody body) {
  Event event;
  event.run = run;
  event.body = std::move(body);
  return event;
}

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_ADMISSION_PARTS_H_
