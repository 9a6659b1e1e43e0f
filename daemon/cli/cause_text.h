// A cause in sentences, with its evidence and what to do about it.

#ifndef NANWATCH_CLI_CAUSE_TEXT_H_
#define NANWATCH_CLI_CAUSE_TEXT_H_

#include <string>
#include <string_view>

#include "cli/depth.h"
#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// "harmless_padding" as "Harmless padding".
std::string Title(std::string_view name);
// How a cause is called.
struct CauseHeading {
  std::string title;  // "NaN from forward"
  std::string grade;  // "(supported)"; empty: no cause, but what was found
};
// What no cause explains is called after the rules that found it.
CauseHeading HeadingOf(const v1::CauseVerdict& cause);
// "op loss/Log (Log, output, fp16), rank 3, host node7, on NPU 4", as far as it
// is known; empty: a whole run.
std::string Place(const v1::Subject& subject);
// Returns the causes of `run`, numbered, each with its evidence and what to do.
// `headline_said`: the sentence of the cause that makes the run's headline
// stands above already.
std::string CausesText(const v1::RunDetail& run, bool headline_said,
                       const Depth& depth, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_CAUSE_TEXT_H_
