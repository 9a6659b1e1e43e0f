// EvaluationLoss: whether a log tells of an evaluation whose loss is not
// finite: {'eval_loss': nan}, "val_loss: nan", a table's column. No rule judges
// it, since it is none of a step; but a training that goes well beside it is
// half of the truth.

#ifndef NANWATCH_LOGS_EVALUATION_LOSS_H_
#define NANWATCH_LOGS_EVALUATION_LOSS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "logs/table_row.h"

namespace nanwatch {

class EvaluationLoss {
 public:
  // Each line of the log, in order.
  void Look(std::string_view line);

  // The first line that shows such a loss; 0: none does.
  uint64_t line() const { return found_; }
  // As printed there: "eval_loss".
  const std::string& name() const { return name_; }

 private:
  void TakeHeader(std::string_view line);
  void LookAtRow(std::string_view line);

  // Lines that are looked at for a table's header.
  static constexpr int kHeaders = 64;

  uint64_t lines_ = 0;
  uint64_t found_ = 0;
  std::string name_;
  int headers_ = 0;  // lines that were looked at for one
  // Of a table, its column of such a loss.
  TableRow row_;
  size_t column_ = 0;  // 0: none
  size_t columns_ = 0;
  char separator_ = ',';
  std::string column_name_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EVALUATION_LOSS_H_
