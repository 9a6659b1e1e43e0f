#include "tests/unit/logs/told_facts.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "logs/format.h"
#include "logs/recogniser.h"

namespace nanwatch {
namespace {

std::string Text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

template <typename Take>
void ForEachLine(std::string_view lines, Take take) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    take(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

std::string KindText(const LogFact& fact) {
  switch (fact.kind) {
    case LogFact::Kind::kProgress:
      return "";
    case LogFact::Kind::kUnderstood:
      return " understood";
    case LogFact::Kind::kOverflow:
      return " overflow";
    case LogFact::Kind::kScale:
      return " scale";
    case LogFact::Kind::kStopped:
      return std::string(" stopped: ").append(fact.text);
    case LogFact::Kind::kBroke:
      return std::string(" broke off: ").append(fact.text);
    case LogFact::Kind::kResumed:
      return std::string(" ").append(fact.text);
    case LogFact::Kind::kOtherObjective:
      return " other objective";
    case LogFact::Kind::kNorm:
      return " norm";
    case LogFact::Kind::kLostLoss:
      return std::string(" lost loss")
          .append(fact.text.empty() ? "" : ": ")
          .append(fact.text);
    case LogFact::Kind::kScored:
      return std::string(" scored: ").append(Text(fact.score));
    case LogFact::Kind::kAccuracy:
      return std::string(" accuracy: ").append(Text(fact.score));
    case LogFact::Kind::kEvaluated:
      return std::string(" evaluated: ").append(fact.text);
    case LogFact::Kind::kSetting:
      return std::string(" ")
          .append(fact.setting)
          .append("=")
          .append(fact.text.empty() ? Text(fact.number)
                                    : std::string(fact.text));
  }
  return "";
}

}  // namespace

std::string FactText(const LogFact& fact) {
  std::string text = KindText(fact);
  const auto add = [&text](std::string_view name, std::string_view equals,
                           double number) {
    text.append(" ").append(name).append(equals).append(Text(number));
  };
  const auto add_known = [&add](std::string_view name, const auto& number) {
    if (number) add(name, "=", static_cast<double>(*number));
  };
  add_known("step", fact.step);
  add_known("before", fact.scale_before);
  for (int f = 0; f < kStepFields; ++f) {
    const StepField field = static_cast<StepField>(f);
    if (!fact.has(field)) continue;
    const bool most = field == StepField::kLossScale && fact.scale_at_most;
    add(Name(field), most ? "<=" : "=", fact[field]);
  }
  if (fact.of_adversary) text.append(" of_adversary");
  if (fact.of_rewards) text.append(" of_rewards");
  if (fact.of_objective) text.append(" of_objective");
  if (fact.of_classes) text.append(" of_classes");
  if (fact.guessed) text.append(" guessed");
  if (fact.cross_entropy) text.append(" cross_entropy");
  if (fact.loss_left_out) text.append(" loss_left_out");
  if (fact.norm_told == NormTold::kZero) text.append(" norm_zero");
  if (fact.norm_told == NormTold::kAgain) text.append(" norm_again");
  if (fact.norm_told == NormTold::kOld) text.append(" norm_old");
  if (fact.overflow) text.append(*fact.overflow ? " overflowed" : " clean");
  if (fact.applied) text.append(*fact.applied ? " applied" : " skipped");
  add_known("skipped_since", fact.skipped_since);
  add_known("skipped_total", fact.skipped_total);
  add_known("nan_since", fact.nan_since);
  add_known("rank", fact.rank);
  add_known("scaler", fact.scaler);
  return text.empty() ? text : text.substr(1);
}

std::string ToldFacts(std::string_view name, std::string_view lines) {
  const LogFormat* format = FindLogFormat(name);
  if (format == nullptr) return std::string("no format ").append(name);
  const std::unique_ptr<LineReader> reader = format->make({});
  std::string text;
  ForEachLine(lines, [&](std::string_view line) {
    const bool marked =
        format->marks.empty() ||
        std::any_of(format->marks.begin(), format->marks.end(),
                    [line](std::string_view mark) {
                      return line.find(mark) != std::string_view::npos;
                    });
    if (!marked) return;
    FactList facts;
    reader->Read(line, &facts);
    std::stable_sort(facts.begin(), facts.end(),
                     [](auto& a, auto& b) { return a.at < b.at; });
    for (const LogFact& fact : facts) {
      if (fact.kind == LogFact::Kind::kUnderstood) continue;
      text.append(FactText(fact)).append("\n");
    }
  });
  return text;
}

std::string RecognisedIn(std::string_view lines) {
  Recogniser recogniser(nullptr, {}, [](const LogFact&, uint64_t) {});
  ForEachLine(lines, [&](std::string_view line) { recogniser.ReadLine(line); });
  recogniser.Finish();
  return recogniser.Emitter();
}

std::string OthersThatRead(std::string_view name, std::string_view lines) {
  std::string others;
  for (const LogFormat* format : AllLogFormats()) {
    if (format->part != LogFormat::Part::kProgress || format->name == name) {
      continue;
    }
    if (ToldFacts(format->name, lines).empty()) continue;
    if (!others.empty()) others.append(" ");
    others.append(format->name);
  }
  return others;
}

ReadLog ReadAll(const std::vector<std::string>& lines) {
  ReadLog read;
  LogReader reader(nullptr, {}, [&read](const LogRecord& record) {
    read.records.push_back(record);
  });
  for (const std::string& line : lines) reader.ReadLine(line);
  reader.Finish();
  read.coverage = reader.recogniser().coverage();
  return read;
}

std::vector<LogRecord> RecordsOf(const std::vector<std::string>& lines) {
  return ReadAll(lines).records;
}

}  // namespace nanwatch
