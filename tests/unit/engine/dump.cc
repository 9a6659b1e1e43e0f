#include "tests/unit/engine/dump.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <vector>

namespace nanwatch {
namespace {

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

std::string Seconds(Time time) {
  return time == Time{} ? "never" : std::to_string(ToMicros(time));
}

void Put(const Subject& s, std::ostream& out) {
  out << "rank=" << s.rank;
  if (!s.optimizer.empty()) out << " optimizer=" << s.optimizer;
  if (!s.op.empty()) out << " op=" << s.op << "/" << Name(s.slot);
}

void Put(const Finding& f, bool moments, std::ostream& out) {
  out << "    finding rule=" << NumberOf(f.rule) << " " << Name(f.severity)
      << " ";
  Put(f.subject, out);
  out << " from=" << f.opened_step;
  if (moments) {
    out << " to=" << f.last_step << " opened=" << Seconds(f.opened)
        << " last=" << Seconds(f.last) << " \"" << f.sentence << "\"";
    for (const EvidenceNumber& n : f.numbers) {
      out << " " << n.name << "=" << Number(n.value);
    }
  }
  out << "\n";
}

void Put(const Incident& i, bool moments, std::ostream& out) {
  out << "  incident ";
  if (moments) out << std::hex << i.id << std::dec << " ";
  out << Name(i.family) << " rule=" << NumberOf(i.rule)
      << " cause=" << Name(i.cause) << " ";
  Put(i.subject, out);
  out << " host=" << i.host << " device=" << i.device << " " << Name(i.state)
      << " " << Name(i.severity) << " from=" << i.opened_step;
  if (moments) {
    out << " worst=" << Name(i.worst) << " opened=" << Seconds(i.opened)
        << " fired=" << Seconds(i.fired) << " updated=" << Seconds(i.updated)
        << " resolved=" << Seconds(i.resolved.value_or(Time{})) << " "
        << i.resolved_step.value_or(-1) << " \"" << i.resolved_reason
        << "\" reopened=" << i.reopened << " ack=" << i.acknowledged_by
        << " muted=" << i.muted << " \"" << i.summary << "\"";
  }
  out << "\n";
  std::vector<Finding> findings = i.findings;
  if (!moments) {
    std::sort(findings.begin(), findings.end(),
              [](const Finding& a, const Finding& b) {
                return std::tie(a.rule, a.subject) <
                       std::tie(b.rule, b.subject);
              });
  }
  for (const Finding& f : findings) Put(f, moments, out);
}

void PutOrigin(const CauseVerdict& c, std::ostream& out) {
  Put(c.origin, out);
  if (c.origin.op.empty()) return;
  out << " type=" << c.op_type << " dtype=" << Name(c.op_dtype);
}

void Put(const Diagnosis& d, std::ostream& out) {
  out << "  headline \"" << d.headline << "\"\n";
  for (const CauseVerdict& c : d.causes) {
    out << "  cause " << Name(c.cause) << " " << Name(c.grade) << " ";
    PutOrigin(c, out);
    out << " step=" << c.step << " rule=" << NumberOf(c.rule)
        << " ceiling=" << Name(c.ceiling) << " \"" << c.sentence << "\"\n";
    for (const Evidence& e : c.evidence) {
      out << "    " << Name(e.grade) << ": " << e.sentence << "\n";
    }
    for (const Action& a : c.actions) {
      out << "    do " << a.framework << ": " << a.sentence << "\n";
    }
  }
}

void Put(const StepTotals& t, std::ostream& out) {
  out << " steps=" << t.steps << " overflows=" << t.overflows
      << " skipped=" << t.skipped << " ops=" << t.op_statuses
      << " dropped=" << t.dropped_steps << "/" << t.dropped_ops;
}

void Put(const LatestValues& latest, std::ostream& out) {
  for (int f = 0; f < kStepFields; ++f) {
    if (!latest.last[f]) continue;
    out << " " << Name(static_cast<StepField>(f)) << "="
        << Number(*latest.last[f]) << "/"
        << Number(latest.last_finite[f].value_or(-1)) << "/"
        << latest.nonfinite[f];
  }
}

void Put(const RankView& r, std::ostream& out) {
  out << "  rank " << r.description.rank << " " << Name(r.state)
      << " last=" << r.last_step << "@" << Seconds(r.last_record)
      << " severity=" << Name(r.severity);
  Put(r.totals, out);
  Put(r.latest, out);
  out << "\n";
}

void PutRun(const RunView& run, std::ostream& out) {
  out << "run " << run.key.run_id << "/" << run.key.attempt << " "
      << Name(run.state) << " \"" << run.end_reason
      << "\" opened=" << Seconds(run.opened) << " last=" << run.last_step << "@"
      << Seconds(run.last_record)
      << " ended=" << Seconds(run.ended.value_or(Time{}))
      << " since=" << run.judged_since << " updates=" << run.updates
      << " applied=" << run.applied << " severity=" << Name(run.severity);
  Put(run.totals, out);
  Put(run.latest, out);
  out << "\n  scaler " << run.scaler.name
      << " floor=" << Number(run.scaler.floor.value_or(-1))
      << " to_floor=" << run.scaler.updates_to_floor.value_or(-1)
      << " impossible=" << run.scaler.impossible_transitions << " layers="
      << (run.scaler.layers ? Number(run.scaler.layers->lowest) + "/" +
                                  run.scaler.layers->lowest_op + " " +
                                  Number(run.scaler.layers->highest) + "/" +
                                  run.scaler.layers->highest_op
                            : "none")
      << " stop=" << run.stop_requested.value_or("no") << "\n";
  for (int f = 0; f < kFamilies; ++f) {
    out << "  " << Name(static_cast<Family>(f)) << "=" << Name(run.family[f])
        << "/" << run.detections[f];
  }
  out << "\n";
}

}  // namespace

std::string Dump(const RunView& run) {
  std::ostringstream out;
  PutRun(run, out);
  Put(run.diagnosis, out);
  for (const Incident& incident : run.incidents) Put(incident, true, out);
  for (const auto& block : run.ranks) {
    for (const RankView& rank : *block) Put(rank, out);
  }
  for (const OpView& op : run.top_ops) {
    out << "  op " << op.name << "/" << Name(op.slot)
        << " bad=" << op.bad_statuses << " elements=" << op.bad_elements
        << " steps=" << op.first_bad_step << ".." << op.last_bad_step
        << " rank=" << op.rank << " abs_max=" << Number(op.abs_max.value_or(-1))
        << " padding=" << op.padding << "\n";
  }
  return out.str();
}

std::string Dump(const Snapshot& snapshot) {
  // By key: slots are an accident of the order in which runs were made.
  std::vector<const RunView*> runs;
  snapshot.runs.ForEach([&](const RunView& run) { runs.push_back(&run); });
  std::sort(runs.begin(), runs.end(),
            [](const RunView* a, const RunView* b) { return a->key < b->key; });
  std::string text;
  for (const RunView* run : runs) text += Dump(*run);
  return text;
}

std::string DumpVerdict(const RunView& run) {
  std::ostringstream out;
  out << "run " << run.key.run_id << "/" << run.key.attempt << " "
      << Name(run.state) << " " << Name(run.severity);
  Put(run.totals, out);
  out << "\n";
  for (const CauseVerdict& c : run.diagnosis.causes) {
    out << "  cause " << Name(c.cause) << " " << Name(c.grade) << " ";
    PutOrigin(c, out);
    out << " step=" << c.step << "\n";
  }
  std::vector<std::string> incidents;
  for (const Incident& incident : run.incidents) {
    std::ostringstream text;
    Put(incident, false, text);
    incidents.push_back(text.str());
  }
  std::sort(incidents.begin(), incidents.end());
  for (const std::string& text : incidents) out << text;
  return out.str();
}

std::string DumpFindings(const RunView& run) {
  std::ostringstream out;
  out << "run " << run.key.run_id << "/" << run.key.attempt << " "
      << Name(run.state) << " " << Name(run.severity);
  Put(run.totals, out);
  out << "\n";
  for (const CauseVerdict& c : run.diagnosis.causes) {
    out << "  cause " << Name(c.cause) << " " << Name(c.grade) << " ";
    PutOrigin(c, out);
    out << " step=" << c.step << "\n";
  }
  std::vector<std::string> findings;
  for (const Incident& incident : run.incidents) {
    if (incident.state == AlertState::kResolved) continue;
    for (const Finding& finding : incident.findings) {
      std::ostringstream text;
      Put(finding, false, text);
      findings.push_back(text.str());
    }
  }
  std::sort(findings.begin(), findings.end());
  for (const std::string& text : findings) out << text;
  return out.str();
}

std::string DumpName(const Incident& i) {
  std::ostringstream out;
  out << Name(i.family) << " rule=" << NumberOf(i.rule) << " ";
  Put(i.subject, out);
  out << " host=" << i.host << " device=" << i.device
      << " from=" << i.opened_step;
  return out.str();
}

std::string Dump(const Effects& effects) {
  std::ostringstream out;
  for (const Notice& n : effects.notices) {
    out << "notice " << n.run.run_id << "/" << n.run.attempt << " "
        << n.resolved << " " << n.actions.size() << "\n";
    Put(n.incident, true, out);
  }
  for (const Request& r : effects.requests) {
    out << "request " << r.id << " session=" << r.session
        << " kind=" << static_cast<int>(r.kind) << " ops=" << r.ops.size()
        << " steps=" << r.steps << " until=" << r.expires_at_step << " \""
        << r.reason << "\"\n";
  }
  for (const RunKey& run : effects.close) {
    out << "close " << run.run_id << "/" << run.attempt << "\n";
  }
  return out.str();
}

}  // namespace nanwatch
