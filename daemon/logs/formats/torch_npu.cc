// GradScaler of torch_npu (Ascend): two lines an overflow, on every rank, often
// glued.
//
// Gradient overflow. Skipping step
// Loss scaler reducing loss scale to 32768.0

#include <algorithm>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kOverflow = "Gradient overflow. Skipping step";
constexpr std::string_view kScale = "Loss scaler ";
// Overflows, none of which reduced the scale: it is a static one.
constexpr int kStatic = 32;

class TorchNpuReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    for (size_t at = 0; at < line.size();) {
      const size_t overflow = line.find(kOverflow, at);
      const size_t scale = line.find(kScale, at);
      const size_t next = std::min(overflow, scale);
      if (next == std::string_view::npos) return;
      if (next == overflow) {
        at = overflow + kOverflow.size();
        ReadOverflow(line.substr(at), overflow, facts);
      } else {
        at = scale + kScale.size();
        ReadScale(line.substr(at), scale, facts);
      }
    }
  }

 private:
  // Says no number, so that copies cannot be told from overflows: the line on
  // the scale is believed, where there is one.
  void ReadOverflow(std::string_view rest, size_t at, FactList* facts) {
    if (rest.starts_with(",")) return;  // Apex'
    if (++unreduced_ > kStatic) {
      AddFact(LogFact::Kind::kOverflow, at, facts);
    }
  }

  void ReadScale(std::string_view rest, size_t at, FactList* facts) {
    Scan scan(rest);
    const bool reduced = scan.Skip("reducing loss scale to ");
    if (!reduced && !scan.Skip("increasing loss scale to ")) return;
    const std::optional<MessageNumber> after = ReadMessageNumber(scan.rest());
    if (!after) return;
    const double next = reduced ? last_ / 2 : last_ * 2;
    if (IsTorn(after->text, last_) || IsTorn(after->text, next)) return;
    LogFact& fact = AddFact(
        reduced ? LogFact::Kind::kOverflow : LogFact::Kind::kScale, at, facts);
    SetScale(after->text, ScaleText::kExact, &fact);
    last_ = after->value;
    if (reduced) unreduced_ = 0;
  }

  double last_ = 0;    // newest scale; 0: none yet
  int unreduced_ = 0;  // overflow lines since one on the scale
};

constexpr std::string_view kMarks[] = {kOverflow, kScale};

}  // namespace

const LogFormat kTorchNpu = {
    .name = "torch_npu",
    .title = "torch_npu GradScaler (Ascend)",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<TorchNpuReader>,
};

}  // namespace nanwatch
