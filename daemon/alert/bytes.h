// ByteWriter and ByteReader: plain values in a row of bytes, little-endian. The
// reader never leaves its bytes: what is missing reads as 0 and makes ok()
// false.

#ifndef NANWATCH_ALERT_BYTES_H_
#define NANWATCH_ALERT_BYTES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanwatch {

class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}

  void U8(uint8_t value) { out_->push_back(static_cast<char>(value)); }
  void U64(uint64_t value) {
    for (int i = 0; i < 8; ++i) U8(static_cast<uint8_t>(value >> 8 * i));
  }
  void I64(int64_t value) { U64(static_cast<uint64_t>(value)); }
  void Double(double value) { U64(std::bit_cast<uint64_t>(value)); }
  void String(std::string_view value) {
    U64(value.size());
    out_->append(value);
  }

 private:
  std::string* const out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  uint8_t U8() {
    if (bytes_.empty()) {
      ok_ = false;
      return 0;
    }
    const uint8_t value = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return value;
  }
  uint64_t U64() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= static_cast<uint64_t>(U8()) << 8 * i;
    return value;
  }
  int64_t I64() { return static_cast<int64_t>(U64()); }
  double Double() { return std::bit_cast<double>(U64()); }
  std::string String() {
    const uint64_t size = U64();
    if (size > bytes_.size()) {
      ok_ = false;
      return {};
    }
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  // An enum's value, 0 .. last.
  template <typename E>
  E Enum(E last) {
    const uint8_t value = U8();
    if (value > static_cast<uint8_t>(last)) ok_ = false;
    return ok_ ? static_cast<E>(value) : E{};
  }
  // A count of things that take at least `bytes_each`, so that no count from a
  // damaged file drives an allocation.
  size_t Count(size_t bytes_each) {
    const uint64_t count = U64();
    if (count > bytes_.size() / bytes_each) {
      ok_ = false;
      return 0;
    }
    return count;
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_BYTES_H_
