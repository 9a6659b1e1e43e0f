// Paddle's GradScaler and PaddleNLP's trainer on overflows. Where both print,
// one overflow is told twice, with the same scales.
//
//  Found inf or nan, current scale is: 4096.0, decrease to: 4096.0*0.5
//  optimizer not run, scale_before: 4096.0, scale_after: 2048.0

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

void AddOverflow(double before, std::optional<double> after, size_t at,
                 FactList* facts) {
  LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
  fact.scale_before = before;
  if (after) fact.Set(StepField::kLossScale, *after);
}

void Read(std::string_view line, FactList* facts) {
  Scan found(line);
  while (found.To("Found inf or nan, current scale is: ")) {
    const size_t at = found.at();
    const std::optional<double> before = found.Number();
    if (!before || !found.Skip(", decrease to: ")) continue;
    const std::optional<double> from = found.Number();
    std::optional<double> after;
    if (from && found.Skip("*")) {
      const std::optional<double> ratio = found.Number();
      // "0." of a torn "0.5" would be a ratio of 0.
      if (ratio && *ratio > 0) after = *from * *ratio;
    }
    AddOverflow(*before, after, at, facts);
  }
  Scan not_run(line);
  while (not_run.To("optimizer not run, scale_before: ")) {
    const size_t at = not_run.at();
    const std::optional<double> before = not_run.Number();
    if (!before || !not_run.Skip(", scale_after: ")) continue;
    const std::optional<Scan::Printed> after = not_run.PrintedNumber();
    const bool whole = after &&
                       after->text.find('.') != std::string_view::npos &&
                       !after->text.ends_with('.');
    AddOverflow(*before,
                whole ? std::optional<double>(after->value) : std::nullopt, at,
                facts);
  }
}

constexpr std::string_view kMarks[] = {"Found inf or nan, current scale is: ",
                                       "optimizer not run, scale_before: "};

}  // namespace

const LogFormat kPaddleAmp = {
    .name = "paddle_amp",
    .title = "Paddle's GradScaler, PaddleNLP's skipped steps",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
