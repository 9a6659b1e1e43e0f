// OpNameText: the name of an op in a rule's plain members; its end where it is
// too long, since ends tell layers apart.

#ifndef NANWATCH_DETECT_OP_NAME_TEXT_H_
#define NANWATCH_DETECT_OP_NAME_TEXT_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace nanwatch {

// Trivially copyable; the last kBytes of a name.
template <size_t kBytes>
class NameText {
 public:
  NameText() = default;
  void Set(std::string_view name) {
    const size_t keep = std::min(name.size(), text_.size());
    name.remove_prefix(name.size() - keep);
    // Not in the middle of a UTF-8 character.
    while (keep == text_.size() && !name.empty() &&
           (static_cast<unsigned char>(name[0]) & 0xc0) == 0x80) {
      name.remove_prefix(1);
    }
    std::copy(name.begin(), name.end(), text_.begin());
    size_ = static_cast<uint8_t>(name.size());
  }
  std::string_view get() const { return {text_.data(), size_}; }

 private:
  std::array<char, kBytes> text_{};
  uint8_t size_ = 0;
};

using OpNameText = NameText<47>;
using PartNameText = NameText<23>;  // of a model: "decoder.head"

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OP_NAME_TEXT_H_
