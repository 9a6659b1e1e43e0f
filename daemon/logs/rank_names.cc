#include "logs/rank_names.h"

namespace nanwatch {

RankNames::Label RankNames::Name(size_t reader, std::string_view line,
                                 const RankPrefix& prefix, LogFact* fact) {
  if (!fact->rank) {
    if (prefix.rank) fact->rank = prefix.rank;
    if (prefix.process) fact->rank = named_.OfProcess(*prefix.process);
  }
  if (fact->rank) {
    named_.Add(*fact->rank);
    return {};
  }
  if (const std::optional<int32_t> rank = RankInWords(line)) {
    named_.Add(*rank);
    return {"", *rank, true};
  }
  const std::optional<NumberedPrefix> numbered = ReadNumberedPrefix(line);
  if (!numbered) return {};
  const bool shown = fact->step && !fact->step_counted && !fact->of_epoch;
  if (shown) numbered_.Note(reader, *numbered, *fact->step);
  return {std::string(numbered->before), numbered->number, false};
}

void RankNames::Settle(const Label& label, LogFact* fact) {
  if (fact->rank || label.number < 0) return;
  if (label.in_words) {
    fact->rank = label.number;
    return;
  }
  if (!numbered_.Know({label.before, label.number})) return;
  fact->rank =
      numbered_.from_zero() ? label.number : named_.OfProcess(label.number);
  named_.Add(*fact->rank);
}

}  // namespace nanwatch
