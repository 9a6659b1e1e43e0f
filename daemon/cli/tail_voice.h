// TailVoice: what `nanwatch tail` says while it watches: an incident as it
// fires, grows worse and is over, in a line or two; the verdict at the end. As
// text for a person or as JSON lines.

#ifndef NANWATCH_CLI_TAIL_VOICE_H_
#define NANWATCH_CLI_TAIL_VOICE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "app/log_judge.h"
#include "cli/style.h"
#include "model/incident.h"

namespace nanwatch {

class TailVoice {
 public:
  // Speaks to `file`, standard output or standard error. Thread-safe: Note.
  // The rest belongs to one thread.
  TailVoice(int file, bool json);

  // Something about the watching itself.
  void Note(std::string_view text) const;
  // An incident changed. Notes (severity info) are for JSON alone; one that
  // comes and goes is told less and less often.
  void Tell(const Notice& notice);
  // From here on Tell says nothing: somebody knows more than the log.
  void BeQuiet() { quiet_ = true; }
  // An incident that somebody else found. `what`: where, and what it is.
  void Alarm(Severity severity, const std::string& what) const;
  // The last word; returns the exit status. `name`: the log, as VerdictLine
  // takes it. `more`: where to read on; may be empty.
  int Conclude(const LogVerdict& verdict, const std::string& name,
               const std::string& more) const;

 private:
  struct Told {
    Severity severity = Severity::kNone;  // now; kNone: it is over
    Cause cause = Cause::kUnexplained;
    int64_t times = 0;   // it was worth telling
    bool aloud = false;  // it was told, and that it is over was not
    std::string advice;  // told last
  };

  void TellText(const Notice& notice, Told* told) const;
  void TellJson(const Notice& notice, std::string_view event) const;
  void Say(const std::string& text) const;
  std::string Line(const std::string& text, int indent) const;

  const int file_;
  const bool json_;
  const bool wrap_;
  bool quiet_ = false;
  const Style style_;
  std::map<uint64_t, Told> told_;  // by incident
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_VOICE_H_
