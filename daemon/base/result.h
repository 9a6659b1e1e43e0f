// Result<T>: a value, or a sentence that says why there is none. Status is a
// Result without a value. For failures of the world (disk, network, input);
// our own bugs are a CHECK.

#ifndef NANWATCH_BASE_RESULT_H_
#define NANWATCH_BASE_RESULT_H_

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace nanwatch {

// What failed, naming the object, and what to do. Never parsed by a program.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)  // NOLINT(google-explicit-constructor)
      : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& value() {
    CHECK(ok());
    return std::get<0>(held_);
  }
  const T& value() const {
    CHECK(ok());
    return std::get<0>(held_);
  }

  // REQUIRES: !ok().
  const std::string& error() const {
    CHECK(!ok());
    return std::get<1>(held_).message;
  }

 private:
  std::variant<T, Error> held_;
};

using Status = Result<std::monostate>;
inline Status OkStatus() { return std::monostate{}; }

}  // namespace nanwatch

#endif  // NANWATCH_BASE_RESULT_H_
