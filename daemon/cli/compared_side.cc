#include "cli/compared_side.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <utility>

#include "base/file.h"
#include "cli/dump_files.h"
#include "cli/dump_side.h"
#include "cli/norm_log.h"
#include "cli/recording.h"

namespace nanwatch {
namespace {

struct SidePlace {
  std::string file;  // empty: the daemon's
  RunChoice run;
};

// "@3" at the end.
std::string WithoutAttempt(const std::string& text,
                           std::optional<int32_t>* attempt) {
  const size_t at = text.rfind('@');
  if (at == std::string::npos) return text;
  int32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + at + 1, end, number);
  if (error != std::errc() || last != end || number < 0) return text;
  *attempt = number;
  return text.substr(0, at);
}

// A file's name may hold what else would be a run's.
SidePlace SidePlaceOf(const std::string& text) {
  if (text == "-" || FileExists(text)) return {text, {}};
  SidePlace place;
  const std::string plain = WithoutAttempt(text, &place.run.attempt);
  if (FileExists(plain)) {
    place.file = plain;
    return place;
  }
  for (size_t at = plain.rfind(':'); at != std::string::npos && at > 0;
       at = plain.rfind(':', at - 1)) {
    if (!FileExists(plain.substr(0, at))) continue;
    place.file = plain.substr(0, at);
    place.run.run_id = plain.substr(at + 1);
    return place;
  }
  place.run.run_id = plain;
  return place;
}

Result<ComparedSide> OfNorms(const std::string& text,
                             Result<ComparedRun>* norms) {
  if (!norms->ok()) return Error{norms->error()};
  return ComparedSide{
      text,
      "The log prints norms of parameters and no step: where one of them comes "
      "again the next step begins. They are counted from 0.",
      std::move(**norms)};
}

Result<ComparedSide> Read(const std::string& text, const std::string& address,
                          const CheckOptions& log) {
  const SidePlace place = SidePlaceOf(text);
  if (!place.file.empty() && IsDump(place.file)) {
    Result<DumpedRun> dump = ReadDump(place.file);
    if (!dump.ok()) return Error{dump.error()};
    return ComparedSide{text, dump->complaint, std::move(dump->run)};
  }
  RunCollector collector;
  const Result<RecordingNote> note =
      place.file.empty()
          ? ReadDaemonsRun(
                address, place.run,
                [&collector](const Event& event) { collector.Take(event); })
          : ReadRecording(place.file, log, {.run = place.run, .one = true},
                          [&collector](Time, const Event& event) {
                            collector.Take(event);
                          });
  if (note.ok()) return ComparedSide{text, note->complaint, collector.Finish()};
  if (!place.file.empty() && place.file != "-") {
    Result<ComparedRun> norms = ReadNormLog(place.file);
    if (!norms.ok() || !norms->tensors.empty()) return OfNorms(text, &norms);
  }
  return Error{note.error()};
}

}  // namespace

Result<ComparedSide> ReadOpening(const std::string& text,
                                 const std::string& address) {
  return Read(text, address, {});
}

Result<ComparedSide> ReadSide(const std::string& text,
                              const std::string& address,
                              const CheckOptions& log) {
  Result<ComparedSide> side = Read(text, address, log);
  if (!side.ok()) return side;
  if (side->run.steps.empty() && side->run.tensors.empty()) {
    return Error{
        fmt::format("{}: no step is recorded, so there is nothing to "
                    "compare",
                    Clean(text))};
  }
  return side;
}

}  // namespace nanwatch
