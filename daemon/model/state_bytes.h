// StateWriter and StateReader: a run's state to bytes and back, for
// checkpoints. A struct that is not plain bytes has one function
//   template <typename A> void Fields(A& archive, Struct& s) {
//     archive(s.first, s.second);
//   }
// that serves both directions, so that they cannot differ; where others read
// it too, it names its fields (model/field.h). The bytes are for the same build
// of the engine only (EngineVersion guards them).

#ifndef NANWATCH_MODEL_STATE_BYTES_H_
#define NANWATCH_MODEL_STATE_BYTES_H_

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

#include "base/fnv1a.h"

namespace nanwatch {

// A memcpy is a copy.
template <typename T>
struct IsPlain : std::is_trivially_copyable<T> {};

template <typename A, typename T>
concept HasFields = requires(A& archive, T& value) {
  Fields(archive, value);
};

// Goes into the bytes as it lies in memory.
template <typename A, typename T>
inline constexpr bool kPlain = IsPlain<T>::value && !HasFields<A, T>;

class StateWriter {
 public:
  explicit StateWriter(std::string* out) : out_(out) {}

  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  template <typename T, typename... Shown>
  void Field(const char*, const T& value, const Shown&...) {
    Put(value);
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
    if constexpr (kPlain<StateWriter, T>) {
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
    if constexpr (kPlain<StateWriter, T>) {
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
  explicit StateReader(std::string_view in) : in_(in) {}

  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  template <typename T, typename... Shown>
  void Field(const char*, T& value, const Shown&...) {
    Get(value);
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
    if constexpr (kPlain<StateReader, T>) {
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
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      Get(byte);
      value = byte != 0;
    } else if constexpr (kPlain<StateReader, T>) {
      Bytes(static_cast<void*>(&value), sizeof(T));
      if constexpr (requires { Last(value); }) {
        if (value > Last(value)) {
          value = T{};
          ok_ = false;
        }
      }
    } else {
      Fields(*this, value);
    }
  }
  // Reads a count of items of `item` bytes; 0 and not ok when they cannot be
  // there.
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

// Appends the hash of all before, by which damage is noticed.
inline void Seal(std::string* bytes) {
  const uint64_t hash = Fnv1aOf(*bytes);
  StateWriter writer(bytes);
  writer(hash);
}
// Takes the hash off again. False: it is not that of the rest.
inline bool Unseal(std::string_view* bytes) {
  uint64_t hash = 0;
  if (bytes->size() < sizeof(hash)) return false;
  const std::string_view body = bytes->substr(0, bytes->size() - sizeof(hash));
  StateReader tail(bytes->substr(body.size()));
  tail(hash);
  *bytes = body;
  return hash == Fnv1aOf(body);
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_STATE_BYTES_H_
