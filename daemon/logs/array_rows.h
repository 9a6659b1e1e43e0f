// ArrayRows: a log that is one JSON object whose losses stand in arrays, as
// Keras' history does when it is saved, in one line or over many:
//
//  {"loss": [2.31, 1.74], "val_loss": [2.40, 1.98], "lr": [0.001, 0.001]}
//
// The i-th numbers of arrays that are equally long are a record: they follow
// the object as rows of a table, under a header.

#ifndef NANWATCH_LOGS_ARRAY_ROWS_H_
#define NANWATCH_LOGS_ARRAY_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/column_names.h"

namespace nanwatch {

// The arrays of numbers of one JSON object, or printed Python dict, whose text
// comes in pieces.
class NumberArrays {
 public:
  struct Array {
    std::string name;   // its key; of an evaluation's, with those above
    std::string cells;  // the numbers as they stand there, commas between
    size_t size = 0;
  };
  // Reads a line, or a part of one that does not end in a word.
  void Feed(std::string_view text);
  bool took() const { return took_; }    // numbers, of the newest text
  bool ended() const { return ended_; }  // the object did, and nothing follows
  bool broken() const { return broken_; }  // it is none, or too large
  const std::vector<Array>& arrays() const { return arrays_; }

 private:
  // Bytes of an object, in which it may show no array yet, and of all arrays;
  // ours.
  static constexpr size_t kBefore = 64 * 1024;
  static constexpr size_t kMost = 64 * 1024 * 1024;
  static constexpr size_t kDepthMax = 16;
  static constexpr size_t kWordMax = 256;  // ours

  struct Frame {
    bool list = false;
    size_t path = 0;  // bytes of that of what it is in
  };
  void Put(char c);
  void Open(bool list);
  void Close();
  void EndValue();

  std::vector<Frame> open_;
  std::string path_;  // of the newest frame, slashes between
  std::string key_;
  std::string word_;  // that was read
  char quote_ = 0;    // of a string that is not over
  bool escaped_ = false;
  bool quoted_ = false;  // word_ is a string
  Array array_;
  bool numbers_ = false;  // array_ is open, and holds nothing else so far
  std::vector<Array> arrays_;
  size_t bytes_ = 0;
  bool took_ = false;
  bool ended_ = false;
  bool broken_ = false;
};

class ArrayRows {
 public:
  // Called for each line that was taken, in their order: one that holds numbers
  // of arrays is empty. Then for the table's.
  using LineSink = std::function<void(std::string_view line)>;
  ArrayRows(const ColumnMap& map, LineSink sink)
      : names_(map), sink_(std::move(sink)) {}

  void Take(std::string_view line) {
    if (over_) return sink_(line);
    TakePart(line);
  }
  // Nothing more follows at all.
  void Finish();
  // Of the table, with its header.
  uint64_t rows() const { return rows_; }

 private:
  void TakePart(std::string_view line);
  void Tell(size_t size);

  ColumnNames names_;
  const LineSink sink_;
  bool over_ = false;  // the log is no such object
  bool begun_ = false;
  NumberArrays object_;
  std::string held_;  // the object, if it is whole in one line
  uint64_t rows_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ARRAY_ROWS_H_
