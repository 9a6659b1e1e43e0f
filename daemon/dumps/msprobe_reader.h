// MsprobeReader: the dump.json that msprobe writes of one step of one rank: the
// statistics, or a checksum, of each tensor that modules and functions took and
// made.

#ifndef NANWATCH_DUMPS_MSPROBE_READER_H_
#define NANWATCH_DUMPS_MSPROBE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dumps/dump_collector.h"
#include "dumps/json_scan.h"

namespace nanwatch {

struct MsprobeTensor {
  DumpedTensor dumped;    // its step is not said in the file
  std::string data_name;  // the file that holds its elements; empty: none
};

class MsprobeReader : private JsonListener {
 public:
  // An error is a part of a sentence: "line 3: the file ends too early".
  Status Feed(std::string_view bytes);
  // Returns the tensors in the order in which they were made.
  Result<std::vector<MsprobeTensor>> Finish();
  // Tensors that the dump names without a number of them.
  size_t empty() const { return empty_; }

 private:
  // What an object says, as far as it may be a tensor or a number.
  struct Fields {
    std::string type;
    std::string dtype;
    std::string data_name;
    std::vector<int64_t> shape;
    std::optional<double> value;
    TensorStatistics statistics;
  };
  struct Level {
    bool is_object = false;
    std::string key;  // of the value that is being read
    Fields fields;
  };

  void OnBegin(bool is_object) override;
  void OnEnd() override;
  void OnKey(std::string_view key) override;
  void OnText(std::string_view text) override;
  void OnNumber(double value, std::string_view digits) override;
  void OnBool(bool value) override;
  void OnNull() override {}

  void TakeNumber(double value);
  void TakeTensor(const Fields& fields);
  void Keep(DumpedTensor dumped, const Fields& fields);
  Slot SlotHere(bool backward) const;

  JsonScan scan_{this};
  std::vector<Level> levels_;
  bool has_data_ = false;
  size_t empty_ = 0;
  std::vector<MsprobeTensor> tensors_;
  // Of tensors_: those behind it are no part of the backward pass.
  size_t backward_end_ = 0;
  bool too_many_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_MSPROBE_READER_H_
