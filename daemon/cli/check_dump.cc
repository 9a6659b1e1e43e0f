#include "cli/check_dump.h"

#include <spdlog/fmt/fmt.h>

#include "app/dump_judge.h"
#include "cli/dump_side.h"
#include "cli/style.h"
#include "compare/usual_overflow.h"

namespace nanwatch {
namespace {

// "1,204 tensors of 301 ops, 2 overflows that the device found".
std::string WhatWasRead(const ComparedRun& run) {
  std::string out =
      fmt::format("{} of {}", Counted(run.tensors.size(), "tensor"),
                  Counted(run.ops.size(), "op"));
  if (!run.overflows.empty()) {
    out += ", " + Counted(run.overflows.size(), "overflow") +
           " that the device found";
  }
  if (!run.ordered) out += "; nobody knows which was made first";
  return out;
}

// "3 NaN and 1 infinity".
std::string BadWords(const ComparedTensor& tensor) {
  const uint64_t nan = tensor.nan.value_or(0);
  const uint64_t inf = tensor.inf.value_or(0);
  std::string out;
  if (nan > 0) out = fmt::format("{} NaN", Grouped(nan));
  if (nan > 0 && inf > 0) out += " and ";
  if (inf > 0) {
    out += fmt::format("{} {}", Grouped(inf),
                       inf == 1 ? "infinity" : "infinities");
  }
  return out;
}

std::string OpPlace(const std::string& op, int64_t step) {
  return fmt::format("{}, step {}", Clean(op), step);
}

// Infinities may be a mask's; NaN is nobody's.
DumpFinding OfTensors(const ComparedRun& run) {
  const ComparedTensor* first = nullptr;
  uint64_t bad = 0;
  bool nan = false;
  for (const ComparedTensor& tensor : run.tensors) {
    if (SpecialsOf(tensor) == 0) continue;
    if (bad++ == 0) first = &tensor;
    nan |= tensor.nan.value_or(0) > 0;
  }
  if (first == nullptr) return {};
  const std::string& op = run.ops[first->op].name;
  std::string headline =
      fmt::format("The {} of {} at step {} holds {}.", Name(first->slot),
                  Clean(op), first->step, BadWords(*first));
  if (bad > 1) {
    headline +=
        run.ordered
            ? fmt::format(" It is the first of {} such tensors.", Grouped(bad))
            : fmt::format(
                  " {} tensors hold such elements; which was made "
                  "first is not known.",
                  Grouped(bad));
  }
  return {nan ? Severity::kCritical : Severity::kWarning,
          OpPlace(op, first->step), std::move(headline)};
}

DumpFinding FindingOf(const ComparedRun& run) {
  DumpFinding of_tensors = OfTensors(run);
  if (of_tensors.severity != Severity::kNone) return of_tensors;
  if (!run.overflows.empty()) {
    const DeviceOverflow& over = run.overflows.front();
    return {
        Severity::kWarning, OpPlace(over.op, over.step),
        fmt::format("The device found an overflow in {} at step {}: {}{}{}.",
                    Clean(over.op), over.step, Clean(over.unit),
                    over.meaning.empty() ? "" : ", ", over.meaning)};
  }
  return {Severity::kNone, "",
          fmt::format("Healthy: no NaN and no infinity in {}.",
                      Counted(run.tensors.size(), "tensor"))};
}

// "; 3 overflows that the benchmark has, too, are left out".
std::string WhatIsUsual(const UsualOverflows& usual) {
  std::string out;
  const size_t both = usual.tensors + usual.devices;
  if (both > 0) {
    out += fmt::format("; {} that the benchmark has, too, are left out",
                       Counted(both, "overflow"));
  }
  if (usual.unmatched > 0) {
    out += fmt::format("; {} with NaN or infinities are not in the benchmark",
                       Counted(usual.unmatched, "tensor"));
  }
  return out;
}

}  // namespace

CheckedLog CheckDump(const std::string& path, const CheckOptions& options) {
  CheckedLog log;
  log.path = path;
  Result<DumpedRun> dumped = ReadDump(path);
  if (!dumped.ok()) {
    log.error = dumped.error();
    log.nothing = "nothing of it could be read.";
    return log;
  }
  log.certainty = WhatWasRead(dumped->run);
  if (options.benchmark_dump != nullptr) {
    log.certainty +=
        WhatIsUsual(LeaveOutUsual(*options.benchmark_dump, &dumped->run));
  }
  static_cast<RecordVerdict&>(log.verdict) =
      JudgeDump(dumped->run, path, options.rules);
  log.verdict.emitter = "dump";
  log.verdict.cut = dumped->complaint;
  // A sentence, where others are words without a full stop.
  if (log.verdict.cut.ends_with('.')) log.verdict.cut.pop_back();
  log.dump = FindingOf(dumped->run);
  return log;
}

}  // namespace nanwatch
