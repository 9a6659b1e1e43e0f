// What a diagnosis says, as text for goldens.

#ifndef NANWATCH_TESTS_GOLDEN_CAUSE_WORDS_H_
#define NANWATCH_TESTS_GOLDEN_CAUSE_WORDS_H_

#include <string>

#include "model/diagnosis.h"

namespace nanwatch {

// Appends the line to the text.
inline void AddLine(const std::string& line, std::string* text) {
  if (!text->empty()) *text += "\n";
  *text += line;
}

// Returns a line "- GRADE: SENTENCE" for each piece of evidence.
inline std::string EvidenceWords(const CauseVerdict& cause) {
  std::string text;
  for (const Evidence& one : cause.evidence) {
    AddLine("- " + std::string(Name(one.grade)) + ": " + one.sentence, &text);
  }
  return text;
}

// Returns a line "> FRAMEWORK: SENTENCE" for each action.
inline std::string ActionWords(const CauseVerdict& cause) {
  std::string text;
  for (const Action& one : cause.actions) {
    const std::string framework =
        one.framework.empty() ? "" : one.framework + ": ";
    AddLine("> " + framework + one.sentence, &text);
  }
  return text;
}

// Returns its sentence, evidence and actions.
inline std::string CauseWords(const CauseVerdict& cause) {
  std::string text = cause.sentence;
  for (const std::string& more : {EvidenceWords(cause), ActionWords(cause)}) {
    if (!more.empty()) AddLine(more, &text);
  }
  return text;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_GOLDEN_CAUSE_WORDS_H_
