#include "logs/broken_off.h"

#include <algorithm>
#include <string>

#include "logs/in_words.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

using Kind = ProgramEnd::Kind;

constexpr std::string_view kStdException = "std::exception";

bool IsOfName(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '.';
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Words that stand for the end themselves.
struct Word {
  std::string_view words;
  std::string_view type;
  Kind kind = Kind::kException;
};
constexpr Word kAnywhere[] = {
    {"Watchdog caught collective operation timeout", "NCCL watchdog"},
    {"Fatal Python error: ", "Fatal Python error"},
    {"Segmentation fault (core dumped)", "SIGSEGV"},
    {"Segmentation fault      (core dumped)", "SIGSEGV"},
    {"Bus error (core dumped)", "SIGBUS"},
    {"Aborted (core dumped)", "SIGABRT"},
    {"Exiting due to exception: ", ""},  // of Tacotron and its kin
    {"EXCEPTION occurred: ", ""},        // CNTK
    {"oom-kill event", "oom-kill", Kind::kOutOfMemory},
    {"oom_kill event", "oom-kill", Kind::kOutOfMemory},
    {" DUE TO TIME LIMIT", "the scheduler's time limit", Kind::kSignal},
    {" DUE TO PREEMPTION", "the scheduler's preemption", Kind::kSignal},
};

Kind KindOf(std::string_view type, std::string_view message) {
  if (type == "KeyboardInterrupt") return Kind::kInterrupt;
  const bool memory = Has(type, "OutOfMemoryError") || type == "MemoryError" ||
                      Has(message, "out of memory") ||
                      Has(message, "RESOURCE_EXHAUSTED");
  return memory ? Kind::kOutOfMemory : Kind::kException;
}

// "torch.cuda.OutOfMemoryError: CUDA out of memory." where `line` begins.
BrokenOff ExceptionAt(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && IsOfName(line[end])) ++end;
  const std::string_view name = line.substr(0, end);
  const std::string_view type = name.substr(name.rfind('.') + 1);
  const bool known = type == "KeyboardInterrupt" ||
                     (type.size() > 5 && type.ends_with("Error")) ||
                     (type.size() > 9 && type.ends_with("Exception"));
  const std::string_view rest = line.substr(end);
  if (!known || (!rest.empty() && !rest.starts_with(": "))) return {};
  const std::string_view message =
      rest.empty() ? rest : TrimBlanks(rest.substr(2));
  return {KindOf(type, message), 0, type, message};
}

// The same, or behind what a launcher or a logger puts before each line. What
// warns goes on.
BrokenOff Exception(std::string_view line) {
  constexpr size_t kPrefix = 64;  // bytes; ours
  BrokenOff found = ExceptionAt(line);
  for (size_t at = line.find(' ');
       found.kind == Kind::kUnknown && at < std::min(line.size(), kPrefix);
       at = line.find(' ', at + 1)) {
    const char before = at > 0 ? line[at - 1] : ' ';
    const bool ends = before == ':' || before == ']' || before == ')' ||
                      before == '|' || before == '-';
    if (!ends) continue;
    if (Has(line.substr(0, at), "WARN") || Has(line.substr(0, at), "arning")) {
      break;
    }
    found = ExceptionAt(line.substr(at + 1));
    found.at = at + 1;
  }
  return found;
}

// The shell's "Killed", behind the number of the line of a script at most.
bool IsKilled(std::string_view line) {
  const size_t at = line.find("Killed");
  if (at == std::string_view::npos) return false;
  const std::string_view before = TrimBlanks(line.substr(0, at));
  const std::string_view behind = line.substr(at + 6);
  const bool ends = behind.empty() || behind.starts_with("  ");
  return ends && (before.empty() || Has(before, ": line "));
}

bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsLower(text[at - 1])) &&
        (end == text.size() || !IsLower(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

namespace {

// "12:01 ERROR: Loss is NaN": of what cannot be an evaluation's.
bool SaysError(std::string_view line) {
  const bool error = Has(line, "ERROR") || Has(line, "Error reported");
  return error && NotFiniteInWords(line) && !IsEvaluation(line);
}

}  // namespace

BrokenOff ReadBrokenOff(std::string_view line) {
  // What C++ prints of an exception, before SIGABRT.
  constexpr std::string_view kWhat = "what():  ";
  const size_t said = line.find_first_not_of(' ');
  if (said != line.npos && line.substr(said).starts_with(kWhat)) {
    return {Kind::kException, said, kStdException,
            line.substr(said + kWhat.size())};
  }
  for (const Word& each : kAnywhere) {
    const size_t at = line.find(each.words);
    if (at == std::string_view::npos) continue;
    return {each.kind, at, each.type,
            each.kind == Kind::kSignal ? "" : TrimBlanks(line.substr(at))};
  }
  if (IsKilled(line)) return {Kind::kException, 0, "SIGKILL", "Killed"};
  const BrokenOff exception = Exception(line);
  if (exception.kind != Kind::kUnknown || !SaysError(line)) return exception;
  return {Kind::kException, 0, "", TrimBlanks(line)};
}

bool IsFollowing(const BrokenOff& end) {
  return end.type == "ChildFailedError" || end.type == "CalledProcessError" ||
         end.type == "DistBackendError" || end.type == "BrokenPipeError" ||
         end.type == "ConnectionResetError" || end.type == "NCCL watchdog" ||
         end.type == "SIGABRT" || end.type == kStdException;
}

bool IsTracebackSource(std::string_view line) {
  const std::string_view text = TrimBlanks(line);
  for (const std::string_view begin :
       {"raise ", "assert ", "f\"", "f'", "\"", "'"}) {
    if (text.starts_with(begin)) return true;
  }
  if (Has(line, "   raise ") || Has(line, "   assert ")) return true;
  return line.starts_with("    ") && (Has(text, "(\"") || Has(text, "('") ||
                                      Has(text, "(f\"") || Has(text, "(f'"));
}

std::optional<StepField> NotFiniteInWords(std::string_view words) {
  const std::string low = LowerCase(words.substr(0, 200));
  const bool bad = HasWord(low, "nan") || HasWord(low, "inf") ||
                   HasWord(low, "infinite") || HasWord(low, "infinity") ||
                   Has(low, "not finite") || Has(low, "non-finite") ||
                   Has(low, "nonfinite");
  if (!bad) return std::nullopt;
  if (Has(low, "loss") || Has(low, "training criterion")) {
    return StepField::kLoss;
  }
  if (HasWord(low, "gradient") || HasWord(low, "gradients") ||
      HasWord(low, "grad") || HasWord(low, "grads")) {
    return StepField::kGradNorm;
  }
  return std::nullopt;
}

bool LossGrewInWords(std::string_view words) {
  static constexpr std::string_view kSaid[] = {
      "loss is exploding",    "loss exploded",  "loss has exploded",
      "loss diverged",        "loss diverges",  "loss is diverging",
      "loss has diverged",    "loss blew up",   "loss is blowing up",
      "loss has blown up",    "loss too large", "loss is too large",
      "loss became too large"};
  const std::string low = LowerCase(words.substr(0, 200));
  // What an evaluation says, and patience, is another matter.
  const bool said = std::ranges::any_of(
      kSaid, [&low](std::string_view each) { return Has(low, each); });
  return said && !Has(low, "valid") && !Has(low, "patience") &&
         !Has(low, "earlystop") && !Has(low, "from t");
}

}  // namespace nanwatch
