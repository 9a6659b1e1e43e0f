// SettingNumbers: numbers with blanks between, out of what a run's setting
// says; and TextOfNumbers, which makes such a setting.

#ifndef NANWATCH_MODEL_SETTING_NUMBERS_H_
#define NANWATCH_MODEL_SETTING_NUMBERS_H_

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "model/run.h"

namespace nanwatch {

class SettingNumbers {
 public:
  // `run` must outlive this.
  SettingNumbers(const RunDescription& run, const char* name) {
    const auto told = run.settings.find(name);
    whole_ = told != run.settings.end();
    if (whole_) rest_ = told->second;
  }

  // Reads the next ones; leaves a value as it is where there is none.
  template <typename... T>
  void Next(T*... values) {
    (ReadOne(values), ...);
  }

  // The setting is there, and so were all numbers that were asked for.
  bool whole() const { return whole_; }
  std::string_view rest() const { return rest_; }  // what was not read

 private:
  template <typename T>
  void ReadOne(T* value) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    const char* const end = rest_.data() + rest_.size();
    const auto read = std::from_chars(rest_.data(), end, *value);
    whole_ = whole_ && read.ec == std::errc();
    rest_.remove_prefix(static_cast<size_t>(read.ptr - rest_.data()));
  }

  std::string_view rest_;
  bool whole_ = false;
};

template <typename... T>
std::string TextOfNumbers(T... numbers) {
  std::string text;
  const auto append = [&text](auto number) {
    std::array<char, 32> room;
    char* const begin = room.data();
    if (!text.empty()) text += ' ';
    text.append(begin, std::to_chars(begin, begin + room.size(), number).ptr);
  };
  (append(numbers), ...);
  return text;
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_SETTING_NUMBERS_H_
