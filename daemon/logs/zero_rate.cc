#include "logs/zero_rate.h"

#include <optional>

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kNames[] = {"learning_rate", "learning rate",
                                       "LearningRate", "lr", "LR"};

bool IsExact(std::string_view number) {
  return number == "0" || number == "0.0" ||
         number.find_first_of("eE") != std::string_view::npos;
}

}  // namespace

bool ShowsZeroRate(std::string_view line) {
  for (const std::string_view name : kNames) {
    for (size_t at = line.find(name); at != std::string_view::npos;
         at = line.find(name, at + name.size())) {
      if (at > 0 && IsLetter(line[at - 1])) continue;
      Scan scan(line, at + name.size());
      while (scan.Skip('\'') || scan.Skip('"') || scan.Skip(' ') ||
             scan.Skip(':') || scan.Skip('=') || scan.Skip('[')) {
      }
      const std::optional<Scan::Printed> rate = scan.PrintedNumber();
      if (rate && rate->value == 0) return IsExact(rate->text);
    }
  }
  return false;
}

}  // namespace nanwatch
