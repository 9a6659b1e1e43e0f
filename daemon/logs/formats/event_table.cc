// A table of scaler events as CSV, for numbers that people reported without
// their log: an overflow, a progress line, a raise, an exception a row.
//
// seq,kind,step,loss,scale,prev_scale,grad_norm,skipped_total,rank_or_scaler,
// extra

#include <array>
#include <limits>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

enum Column {
  kSeq,
  kKind,
  kStep,
  kLoss,
  kScale,
  kPrevious,
  kNorm,
  kSkipped,
  kScaler,
  kColumns
};

constexpr std::string_view kHeader = "seq,kind,step,loss,scale,prev_scale";

void ReadNumbers(const std::array<std::string_view, kColumns>& cell,
                 std::string_view extra, LogFact* fact) {
  const auto set = [&](Column column, StepField field) {
    const std::optional<double> value = WholeNumber(cell[column]);
    if (value) fact->Set(field, *value);
  };
  set(kLoss, StepField::kLoss);
  set(kNorm, StepField::kGradNorm);
  SetScale(cell[kScale], ScaleText::kExact, fact);
  Scan log2(extra);
  if (log2.To("lg_loss_scale")) {
    const std::optional<double> value = log2.Number();
    if (value) SetLog2Scale(*value, fact);
  }
  fact->scale_before = WholeNumber(cell[kPrevious]);
  fact->step = AsCount(WholeNumber(cell[kStep]));
  fact->skipped_total = AsCount(WholeNumber(cell[kSkipped]));
  const std::optional<int64_t> scaler = AsCount(WholeNumber(cell[kScaler]));
  if (scaler) fact->scaler = static_cast<int32_t>(*scaler);
}

// The table's header made the reader begin; before it, nothing is a row.
class EventTableReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (line.starts_with(kHeader)) {
      begun_ = true;
      return;
    }
    if (!begun_) return;
    std::array<std::string_view, kColumns> cell;
    Scan scan(line);
    for (std::string_view& text : cell) text = scan.Until(',');
    const std::string_view extra = scan.rest();
    if (!WholeNumber(cell[kSeq])) return;
    LogFact fact;
    if (cell[kKind] == "ovf") {
      fact.kind = LogFact::Kind::kOverflow;
      if (extra.find("update applied") != std::string_view::npos) {
        applied_ = true;
      }
      if (applied_) fact.applied = true;
    } else if (cell[kKind] == "up") {
      fact.kind = LogFact::Kind::kScale;
    } else if (cell[kKind] == "exc") {
      fact.kind = LogFact::Kind::kStopped;
      fact.text = extra;
    } else if (cell[kKind] != "prog" && cell[kKind] != "nan") {
      return;  // a note
    }
    ReadNumbers(cell, extra, &fact);
    if (cell[kKind] == "nan" && !fact.has(StepField::kLoss)) {
      fact.Set(StepField::kLoss, std::numeric_limits<double>::quiet_NaN());
    }
    facts->push_back(fact);
  }

 private:
  bool begun_ = false;
  bool applied_ = false;  // overflowed updates are applied in this run
};

constexpr std::string_view kMarks[] = {","};

}  // namespace

const LogFormat kEventTable = {
    .name = "event_table",
    .title = "a table of scaler events (CSV)",
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<EventTableReader>,
};

}  // namespace nanwatch
