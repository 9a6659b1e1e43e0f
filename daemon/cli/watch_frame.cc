#include "cli/watch_frame.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <string_view>
#include <vector>

#include "cli/cause_text.h"
#include "cli/incident_text.h"
#include "cli/layers_table.h"
#include "cli/picture.h"
#include "cli/summary_text.h"

namespace nanwatch {
namespace {

// How much of each there is in a frame.
struct Shape {
  int first;      // lines of the first picture that has something to show
  int second;     // of the second
  bool spaced;    // with empty lines between
  int incidents;  // at most
  int lines;      // of a sentence, at most
  bool numbers;   // the run's, beside its name
  int layers;     // at most
};

// From the one with the most room: the first that fits is shown.
constexpr Shape kShapes[] = {
    {6, 6, true, 5, INT_MAX, true, 6},  {4, 4, true, 5, INT_MAX, true, 4},
    {4, 4, true, 5, INT_MAX, true, 0},  {4, 4, false, 5, INT_MAX, true, 0},
    {3, 3, false, 5, INT_MAX, true, 0}, {2, 2, false, 5, INT_MAX, true, 0},
    {3, 0, false, 5, INT_MAX, true, 0}, {2, 0, false, 3, INT_MAX, true, 0},
    {1, 0, false, 3, INT_MAX, true, 0}, {1, 0, false, 1, INT_MAX, true, 0},
    {0, 0, false, 3, INT_MAX, true, 0}, {0, 0, false, 1, INT_MAX, true, 0},
    {0, 0, false, 0, INT_MAX, true, 0}, {0, 0, false, 0, 3, true, 0},
    {0, 0, false, 0, 3, false, 0},      {0, 0, false, 0, 2, false, 0},
    {0, 0, false, 0, 1, false, 0},
};

int Lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::string FirstLines(const std::string& text, int lines) {
  size_t end = 0;
  for (int i = 0; i < lines && end < text.size(); ++i) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return text.substr(0, end);
}

// A sentence of which something was cut off ends in "...".
std::string Shortened(const std::string& text, int lines) {
  if (Lines(text) <= lines) return text;
  std::string out = FirstLines(text, lines);
  out.pop_back();
  // The last word gives way, unless it is the only one of its line.
  const size_t space = out.rfind(' ');
  if (space != std::string::npos && space > 0 && out[space - 1] != ' ') {
    out.resize(space);
  }
  return out + "...\n";
}

// `parts` with three spaces between, in lines of at most `columns`.
std::string Row(const std::vector<std::string>& parts, int columns,
                const Style& style) {
  std::string out;
  std::string line;
  for (const std::string& part : parts) {
    if (!line.empty() &&
        line.size() + 3 + part.size() > static_cast<size_t>(columns)) {
      out += style.Dim(line) + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + part;
  }
  return out + style.Dim(line) + '\n';
}

std::string Figures(const v1::RunSummary& run, const Style& style) {
  std::vector<std::string> parts;
  for (const auto& [field, title] :
       {std::pair("loss", "loss"), std::pair("loss_scale", "scale"),
        std::pair("grad_norm", "grad norm"),
        std::pair("update_norm", "update norm"),
        std::pair("learning_rate", "lr")}) {
    if (const std::optional<double> value = LastOf(run, field)) {
      parts.push_back(fmt::format("{} {}", title, Number(*value)));
    }
  }
  const bool told = run.steps() == 0 || run.overflow_unknown() < run.steps();
  parts.push_back((HasScale(run) ? "overflows " : "not finite ") +
                  (told ? Grouped(run.overflows()) : "not collected"));
  if (run.fate_unknown() == 0) {
    parts.push_back(fmt::format("applied {} of {}", Grouped(run.applied()),
                                Grouped(run.attempts())));
  } else {
    parts.push_back(fmt::format("{}, {}", Counted(run.attempts(), "update"),
                                CountText(run.applied(), run.attempts(),
                                          run.fate_unknown(), "applied")));
  }
  return Row(parts, style.columns, style);
}

std::string Head(const v1::RunDetail& run, const Shape& shape,
                 const Style& style) {
  constexpr int kName = 32;  // columns of the run's
  const v1::RunSummary& summary = run.summary();
  const std::string rest = fmt::format("attempt {}, {}, step {}, {}",
                                       summary.attempt(), Word(summary.state()),
                                       summary.last_step(), RanksText(summary));
  const bool fits = kName + 2 + static_cast<int>(rest.size()) <= style.columns;
  std::string out =
      style.Bold(Fitted(summary.run_id(), std::min(kName, style.columns)));
  if (!shape.numbers) return out + '\n';
  if (fits) out += "  " + style.Dim(rest);
  out += '\n';
  if (!fits) out += style.Dim(Fitted(rest, style.columns)) + '\n';
  return out + Figures(summary, style);
}

std::string VerdictRow(const v1::RunDetail& run, const Shape& shape,
                       const Style& style) {
  const v1::RunSummary& summary = run.summary();
  const v1::Severity shown = ShownSeverity(summary);
  std::string title = HealthText(summary);
  std::transform(title.begin(), title.end(), title.begin(), ::toupper);
  return style.Tint(shown, title) + '\n' +
         Shortened(Wrapped(summary.headline(), 2, style.columns), shape.lines) +
         Shortened(Wrapped(ClockText(run), 2, style.columns), shape.lines);
}

std::string Pictures(const v1::GetStepsResponse& steps, const Shape& shape,
                     const Style& style) {
  std::string out;
  int height = shape.first;
  for (const auto& [title, field, axis] :
       {std::tuple("loss scale (log2)", "loss_scale", Axis::kLog2),
        std::tuple("loss", "loss", Axis::kLinear)}) {
    if (height == 0) break;
    const std::string picture = Picture(steps, field, axis, height, style);
    if (picture.empty()) continue;
    out += style.Bold(title) + '\n' + picture;
    if (axis == Axis::kLog2) out += OverflowLine(steps, style);
    height = shape.second;
  }
  if (out.empty() || shape.second == 0) return out;
  return out + style.Dim(fmt::format(
                   "{:>{}} └ step {} to {}\n", "", kPictureMargin - 2,
                   steps.buckets(0).first_step(),
                   steps.buckets(steps.buckets_size() - 1).last_step()));
}

std::string CauseRow(const v1::RunDetail& run, const Shape& shape,
                     const Style& style) {
  constexpr int kActions = 2;
  if (run.causes_size() == 0) return "";
  const v1::CauseVerdict& cause = run.causes(0);
  const auto [title, grade] = HeadingOf(cause);
  std::string out =
      style.Bold(title) + style.Dim(grade.empty() ? "" : ' ' + grade) + '\n';
  const bool said =
      run.summary().has_headline_cause() && run.summary().headline_cause() == 0;
  if (!said && shape.lines > 1) {
    out += Shortened(Wrapped(cause.sentence(), 2, style.columns), shape.lines);
  }
  for (int i = 0; i < std::min(cause.actions_size(), kActions); ++i) {
    const std::string action =
        Wrapped(cause.actions(i).sentence(), 5, style.columns);
    if (action.empty()) continue;
    out += "  -> " + Shortened(action, shape.lines).substr(5);
  }
  return out;
}

std::string IncidentRows(const v1::RunDetail& run, const Shape& shape,
                         const Style& style) {
  const int shown = std::min(run.incidents_size(), shape.incidents);
  if (shown == 0) return "";
  std::string out = style.Bold("incidents");
  if (shown < run.incidents_size()) {
    out += style.Dim(fmt::format(" ({} of {})", shown, run.incidents_size()));
  }
  out += '\n';
  for (int i = 0; i < shown; ++i) {
    const v1::Incident& incident = run.incidents(i);
    const std::string word = fmt::format("{:<8}", Word(incident));
    const int room = style.columns - 28 - static_cast<int>(word.size());
    out += fmt::format("  {} {} step {:<9} {}\n",
                       style.Tint(incident.severity(),
                                  fmt::format("{:<8}", Word(incident.worst()))),
                       word, incident.opened_step(),
                       Fitted(incident.summary(), std::max(20, room)));
  }
  return out;
}

// Returns the step from which on what clients say of layers is of now. Clients
// tell healthy ones at each 32nd or 64th update, and some only those that are
// not finite; a program's numbers may be of batches, of which an update has
// several.
int64_t LayersSince(int64_t last_step, const v1::GetStepsResponse& steps) {
  constexpr int64_t kUpdates = 256;
  int64_t each = 1;
  if (steps.buckets_size() > 0) {
    uint64_t records = 0;
    for (const v1::StepBucket& bucket : steps.buckets()) {
      records += bucket.records();
    }
    const int64_t all = steps.buckets(steps.buckets_size() - 1).last_step() -
                        steps.buckets(0).first_step();
    each = std::max<int64_t>(
        1, all / static_cast<int64_t>(std::max<uint64_t>(2, records) - 1));
  }
  return each > last_step / kUpdates ? 0 : last_step - kUpdates * each;
}

std::string Composed(const v1::RunDetail& run,
                     const v1::GetStepsResponse& steps,
                     const v1::GetLayersResponse& layers, const Shape& shape,
                     const Style& style) {
  std::string out;
  const double scale = LastOf(run.summary(), "loss_scale").value_or(1);
  for (const std::string& block :
       {Head(run, shape, style), VerdictRow(run, shape, style),
        Pictures(steps, shape, style), CauseRow(run, shape, style),
        IncidentRows(run, shape, style),
        LayersBrief(layers, LayersSince(run.summary().last_step(), steps),
                    scale, shape.layers, style)}) {
    if (block.empty()) continue;
    if (shape.spaced && !out.empty()) out += '\n';
    out += block;
  }
  return out;
}

}  // namespace

std::string WatchFrame(const v1::RunDetail& run,
                       const v1::GetStepsResponse& steps,
                       const v1::GetLayersResponse& layers, const Style& style,
                       int rows) {
  std::string frame;
  for (const Shape& shape : kShapes) {
    frame = Composed(run, steps, layers, shape, style);
    if (rows == 0 || Lines(frame) <= rows) return frame;
  }
  return FirstLines(frame, rows);
}

}  // namespace nanwatch
