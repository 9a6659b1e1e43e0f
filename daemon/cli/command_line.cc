#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <type_traits>

#include "cli/commands.h"

namespace nanwatch {
namespace {

CLI::Option* AddTarget(CLI::App* app, const Option& option) {
  return std::visit(
      [&](auto target) -> CLI::Option* {
        using Target = decltype(target);
        if constexpr (std::is_same_v<Target, std::monostate>) {
          return app->add_flag(option.names, option.help);
        } else if constexpr (std::is_same_v<Target, bool*>) {
          return app->add_flag(option.names, *target, option.help);
        } else {
          return app->add_option(option.names, *target, option.help);
        }
      },
      option.target);
}

void AddOption(CLI::App* app, const Option& option) {
  CLI::Option* added = AddTarget(app, option);
  if (option.required) added->required();
  if (option.check) {
    added->transform(CLI::Validator(option.check->fault, option.check->shape));
  }
  if (!option.excludes.empty()) {
    added->excludes(app->get_option(option.excludes));
  }
  if (option.delimiter != 0) added->delimiter(option.delimiter);
  // What follows `--list a` is no part of the list.
  if (option.names.starts_with('-') &&
      std::holds_alternative<std::vector<std::string>*>(option.target)) {
    added->allow_extra_args(false);
  }
}

void AddCommand(CLI::App* app, const Command& command, const Command** chosen) {
  CLI::App* verb = app->add_subcommand(command.name, command.help);
  verb->fallthrough();  // `runs --address X` is `--address X runs`
  for (const Option& option : command.options) AddOption(verb, option);
  for (const Command& one : command.verbs) AddCommand(verb, one, chosen);
  if (command.run) verb->callback([&command, chosen] { *chosen = &command; });
  if (!command.verbs.empty()) verb->require_subcommand(1);
}

// CLI11 says that a command is missing, and not what stood in its place.
int NoCommand(const CLI::App& app, const CLI::RequiredError& error) {
  const std::vector<std::string> left = app.remaining();
  if (!app.get_subcommands().empty()) {
    app.exit(error);
    return kExitUsage;
  }
  const auto word = std::find_if(left.begin(), left.end(), [](const auto& one) {
    return one.rfind('-', 0) != 0;
  });
  const std::string what =
      word != left.end() ? "there is no command " + Clean(*word)
      : left.empty()     ? "name a command"
                         : "there is no option " + Clean(left.front());
  return Fail(what + "; `nanwatch --help` lists them", kExitUsage);
}

}  // namespace

int RunCommandLine(const CommandLine& line, int argc, char** argv) {
  CLI::App app(line.help, line.name);
  app.set_version_flag("--version", line.version);
  for (const Option& option : line.options) AddOption(&app, option);
  app.require_subcommand(1);
  const Command* chosen = nullptr;
  for (const Command& command : line.commands) {
    AddCommand(&app, command, &chosen);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    return NoCommand(app, error);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  return chosen->run();
}

}  // namespace nanwatch
