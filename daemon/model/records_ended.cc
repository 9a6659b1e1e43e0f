#include "model/records_ended.h"

namespace nanwatch {
namespace {

// By how much its end says why a run ended.
int WeightOf(ProgramEnd::Kind kind) {
  switch (kind) {
    case ProgramEnd::Kind::kOutOfMemory:
    case ProgramEnd::Kind::kException:
      return 3;
    case ProgramEnd::Kind::kInterrupt:
      return 2;
    case ProgramEnd::Kind::kExit:
      return 1;
    case ProgramEnd::Kind::kSignal:
    case ProgramEnd::Kind::kUnknown:
      break;
  }
  return 0;
}

}  // namespace

std::string_view Name(ProgramEnd::Kind kind) {
  switch (kind) {
    case ProgramEnd::Kind::kException:
      return "exception";
    case ProgramEnd::Kind::kExit:
      return "exit";
    case ProgramEnd::Kind::kInterrupt:
      return "interrupt";
    case ProgramEnd::Kind::kSignal:
      return "signal";
    case ProgramEnd::Kind::kOutOfMemory:
      return "out_of_memory";
    case ProgramEnd::Kind::kUnknown:
      break;
  }
  return "unknown";
}

std::string WordsOf(const ProgramEnd& end) {
  std::string words = end.type.empty() ? "an error" : end.type;
  if (!end.message.empty()) words += ": " + end.message;
  if (words.back() == '.') words.pop_back();  // it goes on
  return words;
}

bool SaysMore(const RankEnd& a, const RankEnd& b) {
  return WeightOf(a.end.kind) > WeightOf(b.end.kind);
}

std::string WordsOf(const RankEnd& end, int32_t ranks) {
  std::string words = WordsOf(end.end);
  if (ranks > 1) words += " on rank " + std::to_string(end.rank);
  words += end.step < 0 ? " before any step"
                        : " at step " + std::to_string(end.step);
  return words;
}

std::string EndReason(const RankEnd& end, int32_t ranks) {
  return "ended by " + WordsOf(end, ranks);
}

}  // namespace nanwatch
