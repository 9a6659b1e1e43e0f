// nanwatch: the command. One subcommand a verb; each in a file of its own.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/version.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/demo.h"
#include "cli/style.h"
#include "cli/text_checks.h"

namespace nanwatch {
namespace {

Command DemoCommand(const std::string* address) {
  return {.name = "demo",
          .help =
              "a page with five small runs: healthy, collapse, padding, NaN, "
              "divergence; on a daemon of its own that ends with ^C, or, with "
              "--address, on that one",
          .run = [=] { return Demo(*address); }};
}

Command ReplayCommand() {
  const auto path = std::make_shared<std::string>();
  return {.name = "replay",
          .help = "judge a history file or an export again, and compare",
          .options = {{.names = "file",
                       .target = path.get(),
                       .help = "a history, or what `export` wrote",
                       .required = true,
                       .check = ExistingFile()}},
          .run = [=] { return Replay(*path, Style::OfTerminal()); }};
}

Command CheckConfigCommand() {
  const auto path = std::make_shared<std::string>();
  return {.name = "check-config",
          .help =
              "what is wrong with a configuration, all at once; exit "
              "status 0 nothing, 2 something or no such file, as of "
              "nanwatchd --check-config",
          .options = {{.names = "file",
                       .target = path.get(),
                       .help = "a YAML file, as of nanwatchd --config",
                       .required = true}},
          .run = [=] { return CheckConfig(*path); }};
}

Command ExplainCommand() {
  const auto options = std::make_shared<ExplainOptions>();
  return {.name = "explain",
          .help =
              "a rule's page: what it means, when it fires and clears, its "
              "thresholds and their sources, what people do about it; "
              "without a rule, all of them in a line each",
          .options = {{"rule", &options->rule, "its name or number"},
                      {"--markdown", &options->markdown, "as Markdown"},
                      {"--pages", &options->pages,
                       "write the pages of all rules into this folder, as "
                       "Markdown"}},
          .run = [=] { return ExplainRules(*options, Style::OfTerminal()); }};
}

Command VersionCommand() {
  return {.name = "version", .help = "print the version", .run = [] {
            std::puts(VersionLine("nanwatch").c_str());
            return 0;
          }};
}

int Main(int argc, char** argv) {
  std::string address;
  CommandLine line = {
      .name = "nanwatch",
      .help = "nanwatch shows what nanwatchd finds in training runs.",
      .version = VersionLine("nanwatch"),
      .options = {{.names = "--address",
                   .target = &address,
                   .help = "the daemon: /path, unix:/path or host:port; "
                           "default: NANWATCH_ADDRESS, else the usual sockets",
                   .check = DaemonPlace()}},
      .commands = {}};
  // As `nanwatch --help` lists them.
  const std::vector<Command> lists[] = {
      DaemonCommands(&address),
      {DemoCommand(&address), ReplayCommand(), CheckConfigCommand(),
       ExplainCommand()},
      LogCommands(&address),
      RecordingCommands(&address),
      {VersionCommand()}};
  for (const std::vector<Command>& list : lists) {
    line.commands.insert(line.commands.end(), list.begin(), list.end());
  }
  return RunCommandLine(line, argc, argv);
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  const int status = nanwatch::Main(argc, argv);
  // What was not written was not said: a full disk is no good answer.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "nanwatch: the output could not be written: %s\n",
               std::strerror(errno));
  return status == 0 ? nanwatch::kExitFailed : status;
}
