// StateWriter and StateReader: a run's state to bytes and back, for
// checkpoints. A struct that is not plain bytes has one function
//   template <typename A> void Fields(A& archive, Struct& s) {
//     archive(s.first, s.second);
//   }
// that serves both directions, so that they cannot differ. The bytes are for
// the same build of the engine only (EngineVersion guards them).

#ifndef NANWATCH_ENGINE_STATE_BYTES_H_
#define NANWATCH_ENGINE_STATE_BYTES_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "detect/rule_list.h"

namespace nanwatch {

// Plain bytes: a memcpy is a copy. Lists of rules are (detect/rule_list.h),
// though std::tuple does not say so.
template <typename T>
struct IsPlain : std::is_trivially_copyable<T> {};
template <typename... Rules>
struct IsPlain<RuleList<Rules...>> : std::true_type {};

class StateWriter {
 public:
  static constexpr bool kReads = false;
  explicit StateWriter(std::string* out) : out_(out) {}

  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  bool ok() const { return true; }

 private:
  void Bytes(const void* data, size_t size) {
    out_->append(static_cast<const char*>(data), size);
  }
  void Put(const std::string& s) {
    Size(s.size());
    Bytes(s.data(), s.size());
  }
  template <typename T>
  void Put(const std::vector<T>& v) {
    Size(v.size());
    if constexpr (IsPlain<T>::value) {
      Bytes(v.data(), v.size() * sizeof(T));
    } else {
      for (const T& item : v) Put(item);
    }
  }
  template <typename T>
  void Put(const std::optional<T>& o) {
    Put(o.has_value());
    if (o) Put(*o);
  }
  template <typename K, typename V>
  void Put(const std::map<K, V>& m) {
    Size(m.size());
    for (const auto& [key, value] : m) {
      Put(key);
      Put(value);
    }
  }
  template <typename T>
  void Put(const T& value) {
    if constexpr (IsPlain<T>::value) {
      Bytes(&value, sizeof(T));
    } else {
      Fields(*this, const_cast<T&>(value));
    }
  }
  void Size(uint64_t size) { Bytes(&size, sizeof(size)); }

  std::string* const out_;
};

// Never reads beyond its bytes: what is missing reads as nothing, and ok() is
// false from then on.
class StateReader {
 public:
  static constexpr bool kReads = true;
  explicit StateReader(std::string_view in) : in_(in) {}

  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return in_.empty(); }

 private:
  bool Bytes(void* data, size_t size) {
    if (!ok_ || in_.size() < size) {
      ok_ = false;
      return false;
    }
    if (size > 0) std::memcpy(data, in_.data(), size);
    in_.remove_prefix(size);
    return true;
  }
  void Get(std::string& s) {
    const size_t size = Size(1);
    s.assign(in_.substr(0, size));
    in_.remove_prefix(size);
  }
  template <typename T>
  void Get(std::vector<T>& v) {
    v.clear();
    if constexpr (IsPlain<T>::value) {
      v.resize(Size(sizeof(T)));
      Bytes(static_cast<void*>(v.data()), v.size() * sizeof(T));
    } else {
      // An item takes a byte at least, so that a length drives no allocation
      // beyond the bytes there are.
      const size_t n = Size(1);
      for (size_t i = 0; i < n && ok_; ++i) Get(v.emplace_back());
    }
  }
  template <typename T>
  void Get(std::optional<T>& o) {
    bool has = false;
    Get(has);
    o.reset();
    if (has) Get(o.emplace());
  }
  template <typename K, typename V>
  void Get(std::map<K, V>& m) {
    m.clear();
    const size_t n = Size(1);
    for (size_t i = 0; i < n && ok_; ++i) {
      K key{};
      Get(key);
      Get(m[std::move(key)]);
    }
  }
  template <typename T>
  void Get(T& value) {
    if constexpr (IsPlain<T>::value) {
      Bytes(static_cast<void*>(&value), sizeof(T));
    } else {
      Fields(*this, value);
    }
  }
  // A count of items of `item` bytes; 0 and not ok when they cannot be there.
  size_t Size(size_t item) {
    uint64_t size = 0;
    if (!Bytes(&size, sizeof(size)) || size > in_.size() / item) {
      ok_ = false;
      return 0;
    }
    return size;
  }

  std::string_view in_;
  bool ok_ = true;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_STATE_BYTES_H_
