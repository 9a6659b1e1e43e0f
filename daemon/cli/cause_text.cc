#include "cli/cause_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace nanwatch {

std::string Title(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  for (const std::string_view word : {"NaN", "FP8"}) {
    const bool same = std::equal(
        word.begin(), word.end(), out.begin(),
        out.begin() + static_cast<ptrdiff_t>(std::min(word.size(), out.size())),
        [](char a, char b) { return std::tolower(a) == b; });
    if (same) return out.replace(0, word.size(), word);
  }
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(out[0]));
  return out;
}

std::string Place(const v1::Subject& subject) {
  std::string out;
  const auto add = [&out](const std::string& part) {
    if (!out.empty()) out += ", ";
    out += part;
  };
  if (!subject.op().empty()) {
    add(fmt::format("op {} ({})", subject.op(), subject.slot()));
  }
  if (!subject.optimizer().empty()) {
    add(fmt::format("optimizer {}", subject.optimizer()));
  }
  if (subject.rank() >= 0) add(fmt::format("rank {}", subject.rank()));
  if (!subject.host().empty()) add(fmt::format("host {}", subject.host()));
  if (!subject.device().empty()) add(fmt::format("on {}", subject.device()));
  return Clean(out);
}

std::string CauseText(const v1::CauseVerdict& cause, int number, bool said,
                      const Style& style) {
  std::string out =
      fmt::format("  {}. {} {}\n", number, style.Bold(Title(cause.cause())),
                  style.Dim(fmt::format("({})", Word(cause.grade()))));
  if (!said) out += Wrapped(cause.sentence(), 5, style.columns);
  const std::string place = Place(cause.origin());
  out += style.Dim(fmt::format("     since step {}{}{}", cause.step(),
                               place.empty() ? "" : ", ", place)) +
         '\n';
  for (const v1::Evidence& evidence : cause.evidence()) {
    const std::string text = Wrapped(evidence.sentence(), 19, style.columns);
    out += fmt::format("     {:<12}  {}", Word(evidence.grade()),
                       text.empty() ? "\n" : text.substr(19));
  }
  if (cause.actions_size() > 0) out += "     What to do:\n";
  for (const v1::Action& action : cause.actions()) {
    const std::string sentence =
        action.framework().empty()
            ? action.sentence()
            : fmt::format("{}: {}", action.framework(), action.sentence());
    out += "     - " + Wrapped(sentence, 7, style.columns).substr(7);
  }
  return out;
}

}  // namespace nanwatch
