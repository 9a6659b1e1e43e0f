// DictScan: the pairs of one JSON object or printed Python dict in a line, in
// their order, without a copy: {"loss": 2.3, "epoch": 1}, {'loss': '2.3'}.
// DictWalk: the values of an object and of those in it, by their paths. An
// object that only says what a number is, {"num": 640, "mean": 2.3, "std": 1},
// is its mean, by its own name; of no numbers (num 0) it is none.

#ifndef NANWATCH_LOGS_DICT_SCAN_H_
#define NANWATCH_LOGS_DICT_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

class DictScan {
 public:
  // `text` begins with the opening brace.
  explicit DictScan(std::string_view text) : text_(text), at_(1) {}

  // Goes to the next pair. False: there is none, or what follows is no pair.
  bool Next();
  std::string_view key() const { return key_; }
  // As printed; a string without its quotes, an object with its braces.
  std::string_view value() const { return value_; }
  bool quoted() const { return quoted_; }  // the value is a string
  // The value as a number, also of a string, a list of one or a call
  // (PrintedValue); NaN and Infinity in JSON's, Python's and JavaScript's
  // spelling.
  std::optional<double> Number() const;
  // The value as a count: not negative, at most a billion.
  std::optional<int64_t> Count() const;

  // The closing brace was found: nothing is torn off.
  bool whole() const { return whole_; }
  size_t at() const { return at_; }  // behind what was read

 private:
  void SkipBlanks();
  // What stands up to the end of the value: a string, a nest or a plain word.
  bool ReadValue();

  std::string_view text_;
  size_t at_;
  std::string_view key_;
  std::string_view value_;
  bool quoted_ = false;
  bool whole_ = false;
};

class DictWalk {
 public:
  // `path`: the key, those of objects in one another joined with '/'. `text`:
  // as DictScan::value(). Elements of lists are not told.
  using OnValue =
      std::function<void(std::string_view path, std::string_view text)>;

  // Reads the object that begins `text`. Its size; npos: it is torn, or no
  // object (values that stood before were told).
  size_t Read(std::string_view text, const OnValue& on_value);

  // Objects in one another at most: each costs a pass of its own.
  static constexpr int kDepthMax = 16;

 private:
  bool Walk(DictScan* dict, int depth, const OnValue& on_value);

  std::string path_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_DICT_SCAN_H_
