// OpenAI's improved and guided diffusion: a table of means every log interval,
// its scale as a binary logarithm, which may be far below zero.
//
// ----------------------------
// | grad_norm     | 0.342    |
// | lg_loss_scale | 20.1     |
// | loss          | 0.0123   |
// | samples       | 1.28e+04 |
// | step          | 100      |
// ----------------------------
// Found NaN, decreased lg_loss_scale to 19.013

#include <string_view>
#include <utility>

#include "logs/formats/formats.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kFound = "Found NaN, decreased lg_loss_scale to ";

constexpr NamedField kRows[] = {{"loss", StepField::kLoss},
                                {"grad_norm", StepField::kGradNorm},
                                {"param_norm", StepField::kParamNorm},
                                {"samples", StepField::kConsumedSamples}};

class GuidedDiffusionReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    for (Scan scan(line); scan.To(kFound);) {
      const auto after = ReadMessageNumber(scan.rest());
      // A float; torn where it has no point.
      if (!after || after->text.find('.') == std::string_view::npos) continue;
      LogFact& fact = AddFact(LogFact::Kind::kOverflow, scan.at(), facts);
      SetLog2Scale(after->value, &fact);
      overflowed_ = true;
    }
    if (line.ends_with("|")) {
      ReadRow(line.substr(0, line.size() - 1));
    } else if (line.ends_with("----------")) {
      EndTable(facts);
    }
  }

 private:
  // `| loss          | 0.0123   `, whatever a launcher put before it.
  void ReadRow(std::string_view line) {
    const size_t second = line.rfind('|');
    if (second == std::string_view::npos || second == 0) return;
    const size_t first = line.rfind('|', second - 1);
    if (first == std::string_view::npos) return;
    const std::string_view key =
        TrimBlanks(line.substr(first + 1, second - first - 1));
    const std::optional<double> value = WholeNumber(line.substr(second + 1));
    if (!value) return;
    SetNamed(kRows, key, *value, &table_);
    if (key == "step") {
      table_.step = AsCount(value);
    } else if (key == "lg_loss_scale" && !overflowed_) {
      // A mean: after an overflow its own line says more.
      SetLog2Scale(*value, &table_);
    }
  }

  void EndTable(FactList* facts) {
    const LogFact table = std::exchange(table_, LogFact());
    const bool whole = table.step && table.has(StepField::kLoss) &&
                       table.has(StepField::kConsumedSamples);
    if (!whole) return;
    facts->push_back(table);
    overflowed_ = false;
  }

  LogFact table_;            // of the rows seen
  bool overflowed_ = false;  // since the last table
};

constexpr std::string_view kMarks[] = {kFound, "| ", "----------"};

}  // namespace

const LogFormat kGuidedDiffusion = {
    .name = "guided_diffusion",
    .title = "OpenAI improved-diffusion, guided-diffusion",
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<GuidedDiffusionReader>,
};

}  // namespace nanwatch
