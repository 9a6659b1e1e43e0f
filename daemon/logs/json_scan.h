// JsonScan: the values of one JSON object in a line, without a tree of it. Also
// what Python writes that is no JSON: NaN, Infinity, -Infinity.

#ifndef NANWATCH_LOGS_JSON_SCAN_H_
#define NANWATCH_LOGS_JSON_SCAN_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace nanwatch {

class JsonScan {
 public:
  // `path`: the key, those of nested objects joined with '/'. `text`: the
  // value as it stands there, a string without its quotes. Elements of arrays
  // are not told.
  using OnValue =
      std::function<void(std::string_view path, std::string_view text)>;

  // Reads the object that begins at `line[at]`. Where it ends; npos: it is no
  // object, or torn (values that stood before were told).
  size_t Read(std::string_view line, size_t at, const OnValue& on_value);

  // Objects and arrays in one another at most.
  static constexpr int kDepthMax = 16;

 private:
  bool Value(int depth, bool told);
  bool Object(int depth, bool told);
  bool Array(int depth);
  bool String(std::string_view* text);
  void SkipBlanks();
  bool Take(char c);

  std::string_view line_;
  size_t at_ = 0;
  std::string path_;
  const OnValue* on_value_ = nullptr;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_JSON_SCAN_H_
