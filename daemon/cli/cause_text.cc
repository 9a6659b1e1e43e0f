#include "cli/cause_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

#include "diagnose/words.h"
#include "model/diagnosis.h"
#include "model/pod.h"

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
std::string SubjectKind(const v1::Subject& subject) {
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

CauseHeading HeadingOf(const v1::CauseVerdict& cause) {
  const bool sure = cause.grade() > v1::EVIDENCE_GRADE_HYPOTHESIS;
  // Of a loss that is NaN, and nothing more, the log is sure.
  if (sure && cause.cause() == Name(Cause::kNanFromForward) &&
      cause.origin().op().empty()) {
    return {"NaN loss", ""};
  }
  if (cause.cause() == Name(Cause::kCollapseWithUnderflow)) {
    return {"Loss scale collapsed", fmt::format("({})", Word(cause.grade()))};
  }
  if (cause.cause() != Name(Cause::kUnexplained)) {
    return {Title(cause.cause()), fmt::format("({})", Word(cause.grade()))};
  }
  // What nothing explained, and is over, has no rule any more.
  if (cause.rules().empty()) return {"Earlier trouble", ""};
  return {Title(fmt::format("{}", fmt::join(cause.rules(), ", "))), ""};
}

std::string Place(const v1::Subject& subject) {
  std::string out;
  if (!subject.op().empty()) {
    Add(fmt::format("op {} ({})", subject.op(), SubjectKind(subject)), &out);
  }
  if (!subject.optimizer().empty()) {
    Add(OptimizerInWords(subject.optimizer()), &out);
  }
  if (subject.rank() >= 0) Add(fmt::format("rank {}", subject.rank()), &out);
  if (!subject.host().empty()) {
    Add(fmt::format("host {}", subject.host()), &out);
  }
  if (!subject.device().empty()) {
    Add(fmt::format("on {}", subject.device()), &out);
  }
  const v1::Pod& pod = subject.pod();
  Add(Text(Pod{pod.name(), pod.namespace_(), pod.node()}), &out);
  return Clean(out);
}

namespace {

// "since step 59, op head (Linear, output, fp16), rank 3".
std::string Since(const v1::RunDetail& run, const v1::CauseVerdict& cause) {
  v1::Subject origin = cause.origin();
  // Of one rank nobody asks which.
  if (run.ranks_size() <= 1) origin.set_rank(-1);
  const std::string place = Place(origin);
  return fmt::format("since step {}{}{}", cause.step(),
                     place.empty() ? "" : ", ", place);
}

constexpr int kBelow = 5;  // columns, of what stands below a title

// "1. NaN from forward (supported), since step 59, op head (Linear)": what does
// not fit stands below.
std::string TitleText(const v1::RunDetail& run, int i, const Style& style) {
  const v1::CauseVerdict& cause = run.causes(i);
  const auto [title, grade] = HeadingOf(cause);
  const std::string since = Since(run, cause);
  const size_t wide =
      kBelow + title.size() + 1 + grade.size() + 2 + since.size();
  std::string out = fmt::format("  {}. {}", i + 1, style.Bold(title));
  if (!grade.empty()) out += ' ' + style.Dim(grade);
  if (wide <= static_cast<size_t>(style.columns)) {
    return out + style.Dim(", " + since) + '\n';
  }
  return out + '\n' + style.Dim(Wrapped(since, kBelow, style.columns));
}

std::string EvidenceText(const v1::CauseVerdict& cause, const Depth& depth,
                         const Style& style) {
  constexpr int kIndent = 19;  // columns; the grade stands before it
  const int shown = std::min(cause.evidence_size(), depth.evidence);
  std::string out;
  for (int i = 0; i < shown; ++i) {
    const v1::Evidence& evidence = cause.evidence(i);
    const std::string text =
        Wrapped(evidence.sentence(), kIndent, style.columns);
    out += fmt::format("     {:<12}  {}", Word(evidence.grade()),
                       text.empty() ? "\n" : text.substr(kIndent));
  }
  return out;
}

std::string ActionsText(const v1::CauseVerdict& cause, const Depth& depth,
                        const Style& style) {
  constexpr int kIndent = 7;  // columns
  const int shown = std::min(cause.actions_size(), depth.actions);
  std::string out = shown > 0 ? "     What to do:\n" : "";
  for (int i = 0; i < shown; ++i) {
    const v1::Action& action = cause.actions(i);
    const std::string sentence =
        action.framework().empty()
            ? action.sentence()
            : fmt::format("{}: {}", action.framework(), action.sentence());
    out +=
        "     - " + Wrapped(sentence, kIndent, style.columns).substr(kIndent);
  }
  return out;
}

}  // namespace

std::string CausesText(const v1::RunDetail& run, bool headline_said,
                       const Depth& depth, const Style& style) {
  const int shown = std::min(run.causes_size(), depth.causes);
  std::string out;
  for (int i = 0; i < shown; ++i) {
    const v1::CauseVerdict& cause = run.causes(i);
    const bool said = headline_said && run.summary().has_headline_cause() &&
                      run.summary().headline_cause() == i;
    out += TitleText(run, i, style);
    if (!said) out += Wrapped(cause.sentence(), kBelow, style.columns);
    out += EvidenceText(cause, depth, style) + ActionsText(cause, depth, style);
  }
  return out + AndMore(run.causes_size(), shown, "cause", 2);
}

}  // namespace nanwatch
