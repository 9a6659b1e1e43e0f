#include "cli/text_checks.h"

#include <string>

#include "cli/style.h"
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

}  // namespace nanwatch
