// NVIDIA Apex' dynamic loss scaler, and what was copied from it. Every rank
// prints its line; several stand on one physical line.
//
// Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to
// 32768.0

#include <algorithm>
#include <array>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kOverflow = "Gradient overflow";
constexpr std::string_view kOption = "loss_scale             : ";

// "Rank 3 :: " before the message, as NVIDIA's BERT prints it.
std::optional<int32_t> RankBefore(std::string_view line, size_t at) {
  const std::string_view head = line.substr(0, at);
  if (!head.ends_with(" :: ")) return std::nullopt;
  const size_t word = head.rfind("Rank ");
  if (word == std::string_view::npos) return std::nullopt;
  Scan scan(head, word + 5);
  const std::optional<int64_t> rank = scan.Integer();
  if (!rank || scan.rest() != " :: ") return std::nullopt;
  return static_cast<int32_t>(*rank);
}

class ApexReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    Scan scan(line);
    while (scan.To(kOverflow)) {
      // A message ends where the next one, glued to it, begins.
      const size_t end = std::min(line.find(kOverflow, scan.at()), line.size());
      ReadMessage(line.substr(0, end), scan.at() - kOverflow.size(), facts);
    }
    Scan option(line);
    if (!option.To(kOption)) return;
    const std::string_view text = TrimBlanks(option.rest());
    const std::optional<double> fixed = WholeNumber(text);
    if (fixed || text == "dynamic") {
      AddSetting("fixed_loss_scale", fixed.value_or(0), option.at(), facts);
    }
  }

 private:
  void ReadMessage(std::string_view line, size_t at, FactList* facts) {
    Scan scan(line, at + kOverflow.size());
    if (scan.Skip(", skipping step")) {  // the first Apex, a static scale
      AddFact(LogFact::Kind::kOverflow, at, facts);
      return;
    }
    if (!scan.Skip(".")) return;
    scan.SkipBlanks();
    if (!scan.Skip("Skipping step, ")) return;  // torch_npu's, or torn
    std::optional<int64_t> scaler;
    if (scan.Skip("loss scaler ")) {
      scaler = scan.Integer();
      if (!scaler || !scan.Skip(" ")) return;
    }
    if (!scan.Skip("reducing loss scale to ")) return;
    const std::optional<MessageNumber> after = ReadMessageNumber(scan.rest());
    // A copy that is torn would count as an overflow of its own.
    if (!after) return;
    double& last = last_[static_cast<size_t>(scaler.value_or(0)) & 7];
    if (IsTorn(after->text, last) || IsTorn(after->text, last / 2)) return;
    LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
    SetScale(after->text, ScaleText::kExact, &fact);
    if (scaler) fact.scaler = static_cast<int32_t>(*scaler);
    fact.rank = RankBefore(line, at);
    last = after->value;
  }

  std::array<double, 8> last_{};  // newest scale of each scaler; 0: none yet
};

constexpr std::string_view kMarks[] = {kOverflow, kOption};

}  // namespace

const LogFormat kApex = {
    .name = "apex",
    .title = "NVIDIA Apex AMP",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<ApexReader>,
};

}  // namespace nanwatch
