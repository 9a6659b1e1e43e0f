// JsonScan: JSON that comes in pieces, of any length, as Python writes it: NaN
// and Infinity are numbers. Nothing of it is kept but what is being read.

#ifndef NANWATCH_DUMPS_JSON_SCAN_H_
#define NANWATCH_DUMPS_JSON_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nanwatch {

// Beyond: refused. Dumps nest lists of arguments a few times.
inline constexpr size_t kJsonDepth = 64;
// A path, a module and an argument of it. Beyond: a key is refused, another
// text cut.
inline constexpr size_t kJsonTextBytes = 4096;
// Digits of a double are 17 and of an integer of 64 bits 20. Beyond: refused.
inline constexpr size_t kJsonWordBytes = 64;

class JsonListener {
 public:
  virtual ~JsonListener() = default;
  virtual void OnBegin(bool is_object) = 0;
  virtual void OnEnd() = 0;  // of the innermost object or list
  virtual void OnKey(std::string_view key) = 0;
  virtual void OnText(std::string_view text) = 0;
  // `digits` as they are in the file: a double does not hold each integer.
  virtual void OnNumber(double value, std::string_view digits) = 0;
  virtual void OnBool(bool value) = 0;
  virtual void OnNull() = 0;
};

class JsonScan {
 public:
  explicit JsonScan(JsonListener* listener) : listener_(listener) {}

  // An error is a part of a sentence: "line 3: a comma is missing". After one
  // the scan is at its end.
  Status Feed(std::string_view bytes);
  Status Finish();

 private:
  enum class Expects : uint8_t {
    kValue,
    kValueOrEnd,  // of a list that has just begun
    kKey,
    kKeyOrEnd,
    kColon,
    kCommaOrEnd,
    kNothing
  };
  enum class Within : uint8_t { kNothing, kText, kEscape, kUnicode, kWord };

  Status Take(char c);
  Status TakeOutside(char c);
  Status TakeInText(char c);
  Status TakeUnicode(char c);
  Status Begin(bool is_object);
  Status End(bool is_object);
  Status EndText();
  Status EndWord();
  void EndValue();
  Status Wrong(const std::string& what) const;

  JsonListener* const listener_;
  std::vector<bool> open_;  // objects (true) and lists around this place
  Expects expects_ = Expects::kValue;
  Within within_ = Within::kNothing;
  bool is_key_ = false;  // the text that is being read
  std::string text_;
  uint32_t unicode_ = 0;    // of an escape, as far as it is read
  int unicode_digits_ = 0;  // that were read
  size_t line_ = 1;
};

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_JSON_SCAN_H_
