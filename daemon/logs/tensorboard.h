// TensorBoard's event files: the scalars that a training wrote, as facts of its
// steps. What of a step is written stands close together: a window of a few
// steps puts it back into one.

#ifndef NANWATCH_LOGS_TENSORBOARD_H_
#define NANWATCH_LOGS_TENSORBOARD_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/fact.h"
#include "logs/format.h"
#include "logs/record_file.h"

namespace nanwatch {

class TensorBoardReader {
 public:
  // Facts of steps, each with the number of its newest record, from 1. Tags are
  // found by their usual names or in `map`, as columns are.
  TensorBoardReader(const ColumnMap& map, FactSink sink);

  // As RecordFile's: `bytes` begin such a file.
  static bool Recognise(std::string_view bytes) {
    return RecordFile::Recognise(bytes);
  }
  void Feed(std::string_view bytes) { file_.Feed(bytes); }
  // Steps that wait for more numbers are told: nothing more follows soon.
  void Flush();
  // Nothing more follows at all.
  void Finish();

  uint64_t records() const { return file_.records(); }
  uint64_t damaged() const { return file_.damaged(); }

  // Steps that wait for more numbers at most.
  static constexpr size_t kWindow = 16;

 private:
  static constexpr size_t kMeanings =
      static_cast<size_t>(ColumnMeaning::kRank) + 1;
  struct Step {
    ColumnFact fact{ScaleText::kExact};
    uint64_t record = 0;
  };
  // Of several tags with one meaning, the first that was seen counts.
  struct Owner {
    std::string tag;
    int64_t newest = -1;
  };

  void TakeRecord(std::string_view record);
  void TakeSummary(std::string_view summary, int64_t step);
  void TakeValue(std::string_view value, int64_t step);
  void Take(std::string_view tag, int64_t step, double number);
  void TellFirst();

  ColumnNames names_;
  const FactSink sink_;
  RecordFile file_;
  std::map<int64_t, Step> waiting_;  // by step
  std::array<Owner, kMeanings> owners_;
  int64_t told_ = -1;  // step of the newest fact told
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_TENSORBOARD_H_
