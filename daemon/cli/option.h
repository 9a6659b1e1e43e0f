// Option and Command: what a command takes from its command line, as the
// command itself says it. cli/command_line.cc alone knows the library that
// reads it.

#ifndef NANWATCH_CLI_OPTION_H_
#define NANWATCH_CLI_OPTION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nanwatch {

// What an option demands of its text.
struct OptionCheck {
  // What is wrong with the text, for who typed it; empty: nothing. May put into
  // its place what it stands for.
  std::function<std::string(std::string& text)> fault;
  std::string shape = "";  // "0 or more", for the help; may be empty

  std::string operator()(std::string& text) const { return fault(text); }
};

// Where the value goes, and so how it is read. A bool is a flag without a
// value, a list takes one text each time that its option is given, or all that
// stand without one. Without a target an option is only there to exclude
// another.
using OptionTarget =
    std::variant<std::monostate, bool*, int32_t*, int64_t*, double*,
                 std::string*, std::vector<std::string>*,
                 std::optional<int64_t>*, std::optional<double>*,
                 std::optional<std::string>*>;

struct Option {
  std::string names;  // "run", "--output,-o"; "!--no-daemon" makes it false
  OptionTarget target;
  std::string help;
  bool required = false;
  std::optional<OptionCheck> check;
  std::string excludes;  // an option of the list before it; empty: none
  char delimiter = 0;    // between the parts of a list in one text; 0: none
};

// The lists, one behind the other.
std::vector<Option> Joined(std::vector<Option> first,
                           const std::vector<Option>& second,
                           const std::vector<Option>& third = {});

struct Command {
  std::string name;
  std::string help;
  std::vector<Option> options = {};
  // Returns the exit status. Owns what the options' targets point to. Not set
  // where one of `verbs` has to follow.
  std::function<int()> run = nullptr;
  std::vector<Command> verbs = {};
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_OPTION_H_
