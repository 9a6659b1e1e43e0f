// RecordFile: the records of a TFRecord file (TensorBoard's event files are
// such), from bytes in pieces of any size. Constant memory. Damage costs the
// records that it is in, no others.

#ifndef NANWATCH_LOGS_RECORD_FILE_H_
#define NANWATCH_LOGS_RECORD_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nanwatch {

class RecordFile {
 public:
  using OnRecord = std::function<void(std::string_view record)>;
  explicit RecordFile(OnRecord on_record);

  // True when a file that begins with `bytes` is one: a record's length with
  // its checksum. Asks for kHeadSize bytes.
  static bool Recognise(std::string_view bytes);
  static constexpr size_t kHeadSize = 12;
  // Longer records (graphs, pictures) are passed over.
  static constexpr uint64_t kRecordMax = 1 << 20;

  void Feed(std::string_view bytes);
  // Nothing more follows: a record without its end is a damaged one.
  void Finish();

  uint64_t records() const { return records_; }  // given
  uint64_t damaged() const { return damaged_; }  // places, of any length

 private:
  // Consumes one record, or damage, of `bytes`; 0: more bytes are needed.
  size_t Step(std::string_view bytes);

  const OnRecord on_record_;
  std::string held_;        // a record whose end has not come
  uint64_t pass_over_ = 0;  // bytes of a long record to come
  bool lost_ = false;       // looks for the next record, after damage
  uint64_t records_ = 0;
  uint64_t damaged_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RECORD_FILE_H_
