#include "cli/cause_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace nanwatch {
namespace {

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

void Add(const std::string& part, std::string* list) {
  if (!list->empty() && !part.empty()) *list += ", ";
  *list += part;
}

// "Log, output, fp16". A type that is the op's name says nothing more, nor does
// that of a weight, "Parameter", beside its slot.
std::string KindOf(const v1::Subject& subject) {
  std::string out;
  if (subject.type() != subject.op() &&
      !SameWord(subject.type(), subject.slot())) {
    Add(subject.type(), &out);
  }
  Add(subject.slot(), &out);
  Add(subject.dtype(), &out);
  return out;
}

}  // namespace

std::string Title(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  for (const std::string_view word : {"NaN", "FP8"}) {
    if (SameWord(std::string_view(out).substr(0, word.size()), word)) {
      return out.replace(0, word.size(), word);
    }
  }
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(out[0]));
  return out;
}

std::string Place(const v1::Subject& subject) {
  std::string out;
  if (!subject.op().empty()) {
    Add(fmt::format("op {} ({})", subject.op(), KindOf(subject)), &out);
  }
  if (!subject.optimizer().empty()) {
    Add(fmt::format("optimizer {}", subject.optimizer()), &out);
  }
  if (subject.rank() >= 0) Add(fmt::format("rank {}", subject.rank()), &out);
  if (!subject.host().empty()) {
    Add(fmt::format("host {}", subject.host()), &out);
  }
  if (!subject.device().empty()) {
    Add(fmt::format("on {}", subject.device()), &out);
  }
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
