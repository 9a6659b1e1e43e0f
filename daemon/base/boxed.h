// Boxed: an optional value that lies elsewhere, for one that few of many have:
// without it a pointer's size. A copy has a value of its own.

#ifndef NANWATCH_BASE_BOXED_H_
#define NANWATCH_BASE_BOXED_H_

#include <memory>
#include <utility>

namespace nanwatch {

template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other)
      : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
  Boxed& operator=(Boxed&&) noexcept = default;
  Boxed& operator=(T value) { return *this = Boxed(std::move(value)); }
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  // REQUIRES: it has a value.
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_BOXED_H_
