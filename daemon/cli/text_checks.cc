#include "cli/text_checks.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "cli/style.h"
#include "model/limits.h"
#include "wire/utf8.h"

namespace nanwatch {
namespace {

// The bytes above ASCII too: some of them are no text.
std::string InAscii(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return Clean(text);
}

}  // namespace

OptionCheck Utf8Text() {
  return {[](std::string& text) -> std::string {
    if (IsUtf8(text)) return "";
    return fmt::format("'{}' is not UTF-8", InAscii(text));
  }};
}

OptionCheck RunName() {
  return {[](std::string& text) -> std::string {
    if (text.empty()) return "it is empty: `nanwatch runs` lists the runs";
    if (text.size() > limits::kNameBytes) {
      return fmt::format(
          "a name of {} bytes is no run's: `nanwatch runs` lists the runs",
          text.size());
    }
    return Utf8Text()(text);
  }};
}

OptionCheck DaemonPlace() {
  return {[](std::string& text) -> std::string {
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
    return fmt::format(
        "'{}' is no address: give /path, unix:/path or host:port with a port "
        "of 1 to 65535",
        InAscii(text));
  }};
}

OptionCheck ExistingFile() {
  return {[](std::string& text) -> std::string {
            struct stat found;
            if (stat(text.c_str(), &found) != 0) {
              return "File does not exist: " + text;
            }
            if (S_ISDIR(found.st_mode)) {
              return "File is actually a directory: " + text;
            }
            return "";
          },
          "FILE"};
}

}  // namespace nanwatch
