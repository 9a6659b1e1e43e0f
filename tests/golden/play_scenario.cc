#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <sstream>

#include "detect/all_rules.h"
#include "tests/golden/cause_words.h"
#include "tests/golden/scenario.h"
#include "tests/unit/engine/dump.h"

namespace nanwatch {
namespace {

// True when every option that the line gives is as it says.
bool Is(const Line& line, const std::string& key, std::string_view value) {
  const auto wanted = line.options.find(key);
  return wanted == line.options.end() || wanted->second == value;
}

bool SubjectIs(const Line& line, const Subject& subject) {
  return Is(line, "rank", std::to_string(subject.rank)) &&
         Is(line, "op", subject.op);
}

std::string RuleName(RuleId rule) {
  const RuleSpec* spec = FindRule(rule);
  return spec == nullptr ? std::to_string(NumberOf(rule))
                         : std::string(spec->name);
}

// An incident in `state` that holds a finding of the rule and fits the options.
bool Holds(const RunView& run, AlertState state, const Line& line,
           const std::string& rule) {
  for (const Incident& incident : run.incidents) {
    if (incident.state != state ||
        !Is(line, "severity", Name(incident.severity)) ||
        !Is(line, "cause", Name(incident.cause)) ||
        !Is(line, "host", incident.host) ||
        !Is(line, "device", incident.device)) {
      continue;
    }
    for (const Finding& finding : incident.findings) {
      if (RuleName(finding.rule) == rule &&
          (SubjectIs(line, finding.subject) ||
           SubjectIs(line, incident.subject))) {
        return true;
      }
    }
  }
  return false;
}

bool FiresAbove(const RunView& run, Severity most) {
  return std::any_of(
      run.incidents.begin(), run.incidents.end(), [&](const Incident& i) {
        return i.state == AlertState::kFiring && i.severity > most;
      });
}

bool HasCause(const RunView& run, const Line& line, const std::string& name) {
  for (const CauseVerdict& cause : run.diagnosis.causes) {
    if (Name(cause.cause) == name && Is(line, "grade", Name(cause.grade)) &&
        SubjectIs(line, cause.origin) && Is(line, "type", cause.op_type) &&
        Is(line, "dtype", Name(cause.op_dtype)) &&
        Is(line, "step", std::to_string(cause.step))) {
      return true;
    }
  }
  return false;
}

// "at 1.5s"
std::string Heading(Duration at) {
  char text[40];
  std::snprintf(text, sizeof(text), "at %gs\n",
                std::chrono::duration<double>(at).count());
  return text;
}

// Adds the line unless the text has its sentence.
void AddOnce(const char* what, const std::string& sentence, std::string* text) {
  if (text->find(sentence) == std::string::npos) AddLine(what + sentence, text);
}

// Without those of frameworks where every framework is advised: the runbooks
// have them.
void KeepAdvice(CauseVerdict* cause) {
  std::set<std::string> frameworks;
  for (const Action& action : cause->actions) {
    if (!action.framework.empty()) frameworks.insert(action.framework);
  }
  if (frameworks.size() <= 2) return;
  std::erase_if(cause->actions,
                [](const Action& action) { return !action.framework.empty(); });
}

// What the run says of itself, each sentence once: its headline, causes with
// evidence and actions, incidents and their findings.
std::string WordsOf(const RunView& run) {
  std::string text = run.diagnosis.headline;
  for (CauseVerdict cause : run.diagnosis.causes) {
    KeepAdvice(&cause);
    if (cause.sentence == run.diagnosis.headline) cause.sentence = "as above";
    AddLine(std::string(Name(cause.cause)) + ": " + CauseWords(cause), &text);
  }
  for (const Incident& incident : run.incidents) {
    AddOnce("incident: ", incident.summary, &text);
    for (const Finding& finding : incident.findings) {
      AddOnce("finding: ", finding.sentence, &text);
    }
  }
  return text;
}

// The lines of `text` but for what is below a cause and stands in `told`.
std::string News(const std::string& text, std::set<std::string>* told) {
  std::string news;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const bool below = line.starts_with("- ") || line.starts_with("> ") ||
                       line.starts_with("incident: ") ||
                       line.starts_with("finding: ");
    if (below && !told->insert(line).second) continue;
    news += line + "\n";
  }
  return news;
}

bool Met(const RunView& run, const Line& line) {
  const std::string& what = line.words[0];
  const std::string arg = line.words.size() > 1 ? line.words[1] : "";
  if (what == "nothing") {
    return !FiresAbove(run, arg == "above" ? Severity::kInfo : Severity::kNone);
  }
  if (what == "firing") return Holds(run, AlertState::kFiring, line, arg);
  if (what == "resolved") return Holds(run, AlertState::kResolved, line, arg);
  if (what == "not") {
    const std::string rule = line.words.size() > 2 ? line.words[2] : arg;
    return arg == "cause" ? !HasCause(run, line, rule)
                          : !Holds(run, AlertState::kFiring, line, arg);
  }
  if (what == "cause") return HasCause(run, line, arg);
  if (what == "first") {
    return !run.diagnosis.causes.empty() &&
           Name(run.diagnosis.causes[0].cause) == line.words[2];
  }
  if (what == "condition") return Name(run.diagnosis.condition) == arg;
  if (what == "state") return Name(run.state) == arg;
  if (what == "severity") return Name(run.severity) == arg;
  return false;
}

class Player {
 public:
  explicit Player(const Scenario& scenario) : scenario_(scenario) {}

  Played Play() {
    for (int rank = 0; rank < scenario_.ranks; ++rank) Open(rank);
    Schedule();
    for (const auto& [at, act] : acts_) {
      driver_.Wait(kStart + at - driver_.now());
      for (const RunKey& run : driver_.TakeClosing()) {
        driver_.Say(run, RunClosed{"lost"});
      }
      act();
    }
    return {std::move(failures_), std::move(words_)};
  }

 private:
  void Open(int rank) {
    OpenSessionMessage open;
    open.run_id = scenario_.run_id;
    open.run = scenario_.run;
    open.rank.rank = rank;
    open.rank.place.dp = rank;
    open.rank.host = "node-" + std::to_string(rank);
    open.rank.device = "npu" + std::to_string(rank % 8);
    sessions_.resize(scenario_.ranks);
    sessions_[rank] = driver_.Open(open);
    if (!scenario_.ops.empty()) driver_.Name(sessions_[rank], scenario_.ops);
  }

  // Records, then what happens, then what is expected, where times are equal.
  void Schedule() {
    for (int rank = 0; rank < scenario_.ranks; ++rank) {
      const std::vector<Row>& rows = scenario_.rows[rank];
      for (size_t i = 0; i < rows.size(); ++i) {
        acts_.emplace_back(scenario_.every * static_cast<int64_t>(i + 1),
                           [this, rank, &row = rows[i]] { Step(rank, row); });
      }
    }
    for (const bool expect : {false, true}) {
      for (const Moment& moment : scenario_.moments) {
        if (moment.expect != expect) continue;
        acts_.emplace_back(moment.at, [this, &moment] {
          moment.expect ? Expect(moment) : Happen(moment.line);
        });
      }
    }
    std::set<Duration> times;
    for (const Moment& moment : scenario_.moments) {
      if (moment.expect && times.insert(moment.at).second) {
        acts_.emplace_back(moment.at, [this, &moment] { Say(moment.at); });
      }
    }
    std::stable_sort(
        acts_.begin(), acts_.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  void Step(int rank, const Row& row) {
    if (silent_.contains(rank)) return;
    std::vector<OpCell> cells;
    for (const OpTrack& track : scenario_.op_tracks) {
      if (row.step < track.from || row.step > track.to ||
          std::find(track.ranks.begin(), track.ranks.end(), rank) ==
              track.ranks.end()) {
        continue;
      }
      cells.push_back(track.cell);
      cells.back().step = row.step;
    }
    if (!cells.empty()) driver_.Ops(sessions_[rank], cells);
    driver_.Steps(sessions_[rank], {row});
  }

  // lose N, close N, open N, silence N, speak N, break N KIND TYPE WORDS
  void Happen(const Line& line) {
    const int rank = std::atoi(line.words.at(1).c_str());
    const std::string& what = line.words[0];
    if (what == "lose") {
      driver_.Lose(sessions_[rank]);
      silent_.insert(rank);
    } else if (what == "close") {
      driver_.Close(sessions_[rank]);
      silent_.insert(rank);
    } else if (what == "break") {
      driver_.Close(sessions_[rank], EndOf(line));
      silent_.insert(rank);
    } else if (what == "open") {
      Open(rank);
      silent_.erase(rank);
    } else if (what == "silence") {
      silent_.insert(rank);
    } else if (what == "speak") {
      silent_.erase(rank);
    } else {
      failures_.push_back("line " + std::to_string(line.number) +
                          ": nothing is called " + what);
    }
  }

  static ProgramEnd EndOf(const Line& line) {
    ProgramEnd end;
    for (int k = 0; k < kProgramEndKinds; ++k) {
      const auto kind = static_cast<ProgramEnd::Kind>(k);
      if (Name(kind) == line.words.at(2)) end.kind = kind;
    }
    end.type = line.words.at(3);
    for (size_t i = 4; i < line.words.size(); ++i) {
      end.message += (i == 4 ? "" : " ") + line.words[i];
    }
    return end;
  }

  void Expect(const Moment& moment) {
    const auto run = driver_.Run(scenario_.run_id);
    if (run != nullptr && Met(*run, moment.line)) return;
    if (run == nullptr && moment.line.words[0] == "gone") return;
    failures_.push_back("line " + std::to_string(moment.line.number) + ": " +
                        moment.line.text + "\n  but there is\n" +
                        (run == nullptr ? "no run"
                                        : DumpVerdict(*run) + "  headline " +
                                              run->diagnosis.headline));
  }

  // Adds what the run says, unless it said the same before.
  void Say(Duration at) {
    const auto run = driver_.Run(scenario_.run_id);
    const std::string now = run == nullptr ? "no run" : WordsOf(*run);
    if (now == said_) return;
    if (!words_.empty()) words_ += "\n";
    words_ += Heading(at) + News(now, &told_);
    said_ = now;
  }

  const Scenario& scenario_;
  Driver driver_;
  std::vector<SessionId> sessions_;
  std::set<int> silent_;
  std::vector<std::pair<Duration, std::function<void()>>> acts_;
  std::vector<std::string> failures_;
  std::string said_;            // last
  std::set<std::string> told_;  // lines below causes
  std::string words_;
};

}  // namespace

Played Play(const Scenario& scenario) { return Player(scenario).Play(); }

}  // namespace nanwatch
