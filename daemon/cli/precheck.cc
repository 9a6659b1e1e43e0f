#include "cli/precheck.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/option.h"
#include "cli/recorded_program.h"
#include "config/addresses.h"
#include "json/value.h"

namespace nanwatch {
namespace {

struct PrecheckOptions {
  std::vector<std::string> command;  // not empty
  std::string against;               // empty: no benchmark
  std::string address;               // of the daemon; empty: the usual places
  bool json = false;
};

constexpr const char* kDiffWords[] = {"changes results",
                                      "may change the last bits", ""};
constexpr const char* kDiffNames[] = {"changes_results", "may_change",
                                      "does_not"};

int RunPrecheck(const PrecheckOptions& options, const Style& style) {
  RecordedProgram program(options.command, options.address, "precheck");
  const Status begun = program.Begin();
  if (!begun.ok()) return Fail(begun.error());
  Prechecked found;
  if (!options.against.empty()) {
    const Result<ComparedSide> benchmark =
        ReadOpening(options.against, program.address());
    if (!benchmark.ok()) return Fail(benchmark.error());
    found.benchmark = options.against;
    found.description = benchmark->run.description;
  }
  Result<ComparedSide> side = program.Run("0", 0);
  if (!side.ok()) return Fail(side.error());
  const RunDescription& said = side->run.description;
  if (!found.benchmark.empty()) {
    found.diffs = DiffSettings(found.description, said);
    std::erase_if(found.diffs, [](const SettingDiff& diff) {
      return diff.weight == SettingWeight::kDoesNot;
    });
  }
  found.run = side->name;
  found.description = said;
  found.remarks = JudgeSettings(said);
  const std::string text =
      options.json ? PrecheckJson(found) : PrecheckText(found, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return found.severity();
}

}  // namespace

int Prechecked::severity() const {
  const bool wrong = std::any_of(
      remarks.begin(), remarks.end(),
      [](const Remark& r) { return r.weight == RemarkWeight::kWrong; });
  const bool differs =
      std::any_of(diffs.begin(), diffs.end(), [](const SettingDiff& diff) {
        return diff.weight == SettingWeight::kChangesResults;
      });
  return wrong || differs ? 1 : 0;
}

std::string PrecheckText(const Prechecked& found, const Style& style) {
  std::string out =
      style.Bold(found.severity() > 0 ? "WARNING" : "READY") + "\n";
  const auto line = [&](const std::string& text) {
    out += Wrapped(text, 2, style.columns);
  };
  for (const Remark& remark : found.remarks) {
    line(fmt::format("{}{} {} [{}]",
                     remark.weight == RemarkWeight::kWrong ? "" : "Note: ",
                     remark.what, remark.advice, remark.key));
  }
  if (!found.benchmark.empty()) {
    line(found.diffs.empty()
             ? fmt::format("All settings are those of {}.", found.benchmark)
             : fmt::format(
                   "{} from {}:",
                   Counted(found.diffs.size(), "setting") +
                       (found.diffs.size() == 1 ? " differs" : " differ"),
                   found.benchmark));
    for (const SettingDiff& diff : found.diffs) {
      line(fmt::format("{}: {} there, {} here; {}.", diff.key,
                       diff.a.empty() ? "not said" : diff.a,
                       diff.b.empty() ? "not said" : diff.b,
                       kDiffWords[static_cast<int>(diff.weight)]));
    }
  } else if (found.remarks.empty()) {
    line("Nothing is wrong with what was read.");
  }
  line("Read:");
  for (const auto& [key, value] : AllSettings(found.description)) {
    out += Wrapped(key + ": " + value, 4, style.columns);
  }
  return out;
}

std::string PrecheckJson(const Prechecked& found) {
  Json json;
  json["run"] = Clean(found.run);
  json["remarks"] = Json::array();
  for (const Remark& remark : found.remarks) {
    json["remarks"].push_back(
        {{"weight", remark.weight == RemarkWeight::kWrong ? "wrong" : "may"},
         {"key", remark.key},
         {"what", remark.what},
         {"advice", remark.advice}});
  }
  if (!found.benchmark.empty()) {
    json["benchmark"] = Clean(found.benchmark);
    json["differ"] = Json::array();
    for (const SettingDiff& diff : found.diffs) {
      json["differ"].push_back(
          {{"key", Clean(diff.key)},
           {"benchmark", Clean(diff.a)},
           {"here", Clean(diff.b)},
           {"weight", kDiffNames[static_cast<int>(diff.weight)]}});
    }
  }
  json["settings"] = Json::object();
  for (const auto& [key, value] : AllSettings(found.description)) {
    json["settings"][Clean(key)] = Clean(value);
  }
  return Dump(json, 2);
}

Command PrecheckCommand(const std::string* address) {
  const auto options = std::make_shared<PrecheckOptions>();
  return {.name = "precheck",
          .help =
              "what a training computes with, before its first step: formats, "
              "loss scale, overflow mode, versions, what is deterministic, "
              "judged alone or beside a benchmark run: `nanwatch precheck "
              "--against good -- python train.py`. The program calls the watch "
              "of its framework, and is ended there",
          .options = {{.names = "command",
                       .target = &options->command,
                       .help = "the program and its arguments",
                       .required = true},
                      {"--against", &options->against,
                       "the benchmark: a history or an export (FILE, "
                       "FILE:RUN@ATTEMPT), or a run that the daemon knows"},
                      {"--json", &options->json, "as JSON"}},
          .run = [=] {
            options->address = DaemonAddress(*address);
            return RunPrecheck(*options, Style::OfTerminal());
          }};
}

}  // namespace nanwatch
