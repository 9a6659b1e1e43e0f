// The commands that read other programs' logs, as the command line knows them.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace nanwatch {
namespace {

struct LogArguments {
  std::vector<std::string> paths;
  std::string format;
  std::vector<std::string> map;
  bool json = false;
  bool list = false;
};

// "loss=train/loss,scale=amp/scale", perhaps several.
ColumnMap ParseMap(const std::vector<std::string>& pairs) {
  ColumnMap map;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) continue;
    map.columns.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return map;
}

int Check(const LogArguments& arguments) {
  if (arguments.list) return ListFormats();
  if (arguments.paths.empty()) {
    return Fail("check needs the path of a log (- reads standard input)",
                kExitUsage);
  }
  CheckOptions options;
  options.json = arguments.json;
  options.columns = ParseMap(arguments.map);
  if (!arguments.format.empty()) {
    options.format = FindLogFormat(arguments.format);
    if (options.format == nullptr) {
      return Fail("there is no log format " + arguments.format +
                      "; `nanwatch check --list-formats` lists them",
                  kExitUsage);
    }
  }
  return CheckLogs(arguments.paths, options, Style::OfTerminal());
}

}  // namespace

void AddLogCommands(CLI::App& app, std::function<int()>* action) {
  const auto arguments = std::make_shared<LogArguments>();
  CLI::App* check = app.add_subcommand(
      "check",
      "judge finished training logs of other programs; no daemon needed. Exit "
      "status 0 nothing above info, 1 warning, 2 critical, 3 nothing usable");
  check->add_option("log", arguments->paths,
                    "the logs: plain, .gz or .zst; - reads standard input");
  check->add_option("--format", arguments->format,
                    "the program that printed it; default: found out");
  check->add_flag("--list-formats", arguments->list, "the programs known");
  check
      ->add_option("--map", arguments->map,
                   "where a table's columns are: loss=train/loss,scale=amp/s")
      ->delimiter(',');
  check->add_flag("--json", arguments->json, "one JSON object a log");
  check->callback([=] { *action = [=] { return Check(*arguments); }; });
}

}  // namespace nanwatch
