#include "cli/text_checks.h"

#include <algorithm>
#include <string>

#include "cli/style.h"
#include "model/limits.h"
#include "wire/utf8.h"

namespace nanwatch {
namespace {

// The bytes above ASCII too: some of them are no text.
std::string Shown(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return Clean(text);
}

}  // namespace

CLI::Validator Utf8Text() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (IsUtf8(text)) return "";
        return "'" + Shown(text) + "' is not UTF-8";
      },
      "");
}

CLI::Validator RunName() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (text.empty()) return "it is empty: `nanwatch runs` lists the runs";
        if (text.size() > limits::kNameBytes) {
          return "a name of " + std::to_string(text.size()) +
                 " bytes is no run's: `nanwatch runs` lists the runs";
        }
        return Utf8Text()(text);
      },
      "");
}

CLI::Validator DaemonPlace() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (text.empty()) return "it is empty: leave it out for the default";
        if (text.starts_with("/") || text.starts_with("unix:")) return "";
        const size_t colon = text.rfind(':');
        const std::string port =
            colon == std::string::npos ? "" : text.substr(colon + 1);
        const bool digits = !port.empty() && port.size() <= 5 &&
                            std::all_of(port.begin(), port.end(), [](char c) {
                              return c >= '0' && c <= '9';
                            });
        if (colon != 0 && digits && std::stoi(port) >= 1 &&
            std::stoi(port) <= 65535) {
          return "";
        }
        return "'" + Shown(text) +
               "' is no address: give /path, unix:/path or host:port with a "
               "port of 1 to 65535";
      },
      "");
}

}  // namespace nanwatch
