#include "logs/rank_prefix.h"

#include <algorithm>

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr int64_t kRankMax = 1'000'000;
constexpr int kPrefixesMax = 3;

// Whether `text` begins as `pattern` does: 0 stands for a digit, A and a for a
// letter, the rest for itself.
bool Begins(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = text[i];
    const bool fits = pattern[i] == '0'   ? IsDigit(c) || (c == ' ' && i == 4)
                      : pattern[i] == 'A' ? c >= 'A' && c <= 'Z'
                      : pattern[i] == 'a' ? IsLower(c)
                                          : c == pattern[i];
    if (!fits) return false;
  }
  return true;
}

// torchrun's "[rank3]:" and "[default3]:", mpirun's "[1,3]<stdout>:". 0: none.
size_t InBrackets(std::string_view line, std::optional<int32_t>* rank) {
  Scan scan(line);
  const bool named = scan.Skip("[rank");
  const bool local = !named && scan.Skip("[default");
  if (!named && !local) scan.Skip("[");
  if (!IsDigit(scan.peek())) return 0;
  std::optional<int64_t> number = scan.Integer();
  if (!named && !local) {
    if (!scan.Skip(",") || !IsDigit(scan.peek())) return 0;
    number = scan.Integer();
  }
  if (!number || *number > kRankMax || !scan.Skip("]")) return 0;
  if (!named && !local && !scan.Skip("<stdout>") && !scan.Skip("<stderr>")) {
    return 0;
  }
  if (!scan.Skip(":")) return 0;
  scan.SkipBlanks();
  *rank = static_cast<int32_t>(*number);
  return scan.at();
}

// Ray's "(TrainWorker pid=4242, ip=10.0.0.7) ". 0: none.
size_t InParentheses(std::string_view line, std::optional<int64_t>* process) {
  const size_t end = line.find(") ");
  if (end == std::string_view::npos) return 0;
  const std::string_view inside = line.substr(1, end - 1);
  const size_t pid = inside.find("pid=");
  const bool word = pid == 0 || (pid != std::string_view::npos &&
                                 inside.find(' ') == pid - 1);
  if (!word || pid + 4 >= inside.size() || !IsDigit(inside[pid + 4])) return 0;
  if (!*process) *process = Scan(inside, pid + 4).Integer();
  return end + 2;
}

// A container's "2024-03-01T12:01:07.123456789Z ", perhaps "stdout F " behind
// it, and the journal's "Mar 01 12:01:07 ", perhaps "node7 python3[4242]: "
// behind it. Programs print their clocks otherwise. 0: none.
size_t Clock(std::string_view line) {
  if (line.size() > 10 && line[10] == 'T' &&
      Begins(line, "0000-00-00T00:00:00.000000")) {
    Scan scan(line, 26);
    while (IsDigit(scan.peek())) scan.Skip(scan.peek());
    if (!scan.Skip("Z ")) return 0;
    for (const std::string_view stream :
         {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
      if (scan.Skip(stream)) break;
    }
    return scan.at();
  }
  if (!Begins(line, "Aaa 00 00:00:00 ")) return 0;
  const size_t clock = 16;
  const std::string_view rest = line.substr(clock);
  const size_t blank = rest.find(' ');
  const size_t end = rest.find("]: ");
  if (blank == std::string_view::npos || end == std::string_view::npos ||
      rest.find(' ', blank + 1) != end + 2) {
    return clock;
  }
  return clock + end + 3;
}

// docker compose's "train-0  | ". 0: none.
size_t Container(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank < 3 ||
      !IsDigit(line[blank - 1])) {
    return 0;
  }
  size_t at = blank - 1;
  while (at > 0 && IsDigit(line[at])) --at;
  if (line[at] != '-' && line[at] != '_') return 0;
  const size_t bar = line.find_first_not_of(' ', blank);
  return line.substr(std::min(bar, line.size())).starts_with("| ") ? bar + 2
                                                                   : 0;
}

// pdsh's "10.0.0.7: ", of a host of several: its address as a number. 0: none.
size_t Address(std::string_view line, std::optional<int64_t>* process) {
  Scan scan(line);
  int64_t address = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && !scan.Skip(".")) return 0;
    int64_t number = 0;
    const size_t begin = scan.at();
    while (IsDigit(scan.peek()) && scan.at() - begin < 4) {
      number = number * 10 + (scan.peek() - '0');
      scan.Skip(scan.peek());
    }
    if (scan.at() == begin || number > 255) return 0;
    address = address * 256 + number;
  }
  if (!scan.Skip(": ")) return 0;
  if (!*process) *process = address;
  return scan.at();
}

size_t ReadOne(std::string_view line, RankPrefix* prefix) {
  if (line.size() < 5) return 0;
  const char first = line.front();
  if (first == '[') return InBrackets(line, &prefix->rank);
  if (first == '(') return InParentheses(line, &prefix->process);
  if (IsDigit(first)) {
    if (const size_t host = Address(line, &prefix->process)) return host;
  }
  if (line[4] == '-' || line[3] == ' ') {  // of most lines neither
    if (const size_t clock = Clock(line)) return clock;
  }
  return IsLower(first) ? Container(line) : 0;
}

}  // namespace

RankPrefix ReadRankPrefix(std::string_view line) {
  RankPrefix prefix;
  // A collector's and then a launcher's.
  for (int i = 0; i < kPrefixesMax; ++i) {
    const size_t size = ReadOne(line.substr(prefix.size), &prefix);
    if (size == 0) break;
    prefix.size += size;
  }
  return prefix;
}

void NamedRanks::Add(int32_t rank) {
  const size_t at = static_cast<size_t>(std::min(rank, kMax));
  if (seen_.size() <= at) seen_.resize(at + 1);
  if (!seen_[at]) ++count_;
  seen_[at] = true;
}

int32_t NamedRanks::OfProcess(int64_t process) {
  const auto found = std::find(processes_.begin(), processes_.end(), process);
  if (found != processes_.end()) {
    return static_cast<int32_t>(found - processes_.begin());
  }
  if (processes_.size() > kMax) return kMax;
  processes_.push_back(process);
  return static_cast<int32_t>(processes_.size() - 1);
}

std::optional<int32_t> RankInWords(std::string_view line) {
  constexpr size_t kBegin = 64;  // bytes; a clock and a logger's name; ours
  const std::string_view begin = line.substr(0, kBegin);
  for (const std::string_view word : {"ank", "ANK"}) {
    const size_t at = begin.find(word);
    if (at == std::string_view::npos || at == 0) continue;
    const char first = begin[at - 1];
    const char before = at > 1 ? begin[at - 2] : ' ';
    const bool whole = (first == 'r' || first == 'R') && !IsLetter(before);
    if (!whole) continue;
    Scan scan(line, at + word.size());
    while (scan.Skip(" ") || scan.Skip(":") || scan.Skip("=") ||
           scan.Skip("_")) {
    }
    if (!IsDigit(scan.peek())) continue;
    const std::optional<int64_t> rank = scan.Integer();
    const bool fraction = scan.peek() == '.' && !scan.rest().starts_with(". ");
    if (rank && *rank <= kRankMax && !fraction) {
      return static_cast<int32_t>(*rank);
    }
  }
  return std::nullopt;
}

size_t BehindTaskNumber(std::string_view line) {
  size_t at = std::min(line.find_first_not_of(" \t"), line.size());
  size_t end = at;
  while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
  if (end == at || !line.substr(end).starts_with(": ")) return at;
  return std::min(line.find_first_not_of(" \t", end + 1), line.size());
}

}  // namespace nanwatch
