#include "cli/compare.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/comparison_json.h"
#include "app/comparison_words.h"
#include "cli/floors_file.h"
#include "cli/log_flags.h"
#include "cli/option.h"
#include "config/addresses.h"
#include "json/value.h"

namespace nanwatch {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::string address;
  CheckOptions log;
  bool json = false;
  std::string floors;  // a file; empty: none
};

int CompareRuns(const CompareOptions& options, const Style& style) {
  const Result<ComparedSide> a =
      ReadSide(options.a, options.address, options.log);
  if (!a.ok()) return Fail(a.error());
  const Result<ComparedSide> b =
      ReadSide(options.b, options.address, options.log);
  if (!b.ok()) return Fail(b.error());
  std::optional<Floors> floors;
  if (!options.floors.empty()) {
    Result<Floors> read = ReadFloors(options.floors);
    if (!read.ok()) return Fail(read.error());
    floors = std::move(*read);
  }
  const Comparison comparison =
      Compare(a->run, b->run, floors ? &*floors : nullptr);
  const std::string text = options.json
                               ? Dump(ComparisonJson(*a, *b, comparison), 2)
                               : ComparisonText(*a, *b, comparison, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!comparison.comparable()) return kExitFailed;
  switch (SeverityOf(comparison)) {
    case Severity::kCritical:
      return 2;
    case Severity::kWarning:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Command CompareCommand(const std::string* address) {
  struct Arguments : LogFlags {
    CompareOptions options;
  };
  const auto a = std::make_shared<Arguments>();
  CompareOptions& options = a->options;
  return {
      .name = "compare",
      .help =
          "two runs side by side: the settings, the losses and the first "
          "tensor that differs, whether that is usual, and what parts the "
          "runs. "
          "For tensors both record with level=\"compare\"",
      .options = Joined(
          {{.names = "a",
            .target = &options.a,
            .help = "a history or an export (FILE, FILE:RUN@ATTEMPT), a log, "
                    "what another tool dumped (a folder of msprobe's, .npy "
                    "files, Paddle's, TransformerEngine's or CANN's), "
                    "or a run that the daemon knows (RUN, RUN@ATTEMPT)",
            .required = true},
           {.names = "b",
            .target = &options.b,
            .help = "the run that is compared with it",
            .required = true},
           {"--floors", &options.floors,
            "a file of `repeat`: what lies no farther apart than repeats of "
            "the program is usual"},
           {"--json", &options.json, "as JSON"}},
          a->OptionsOfALog()),
      .run = [=] {
        const Status resolved = a->Resolve(&a->options.log);
        if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
        a->options.address = DaemonAddress(*address);
        return CompareRuns(a->options, Style::OfTerminal());
      }};
}

}  // namespace nanwatch
