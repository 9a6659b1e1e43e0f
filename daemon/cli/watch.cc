// watch: a run while it happens.

#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/picture.h"
#include "cli/summary_text.h"

namespace nanwatch {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr char kLeave[] = "\x1b[?25h\x1b[?1049l";
constexpr uint32_t kIntervalMs = 250;

// Gives the terminal back; only what a signal handler may call.
void LeaveAndExit(int) {
  (void)!write(STDOUT_FILENO, kLeave, sizeof kLeave - 1);
  _exit(130);
}

double Latest(const v1::RunSummary& run, std::string_view field, bool* there) {
  for (const v1::StepValue& value : run.values()) {
    if (value.field() == field && value.has_last()) {
      *there = true;
      return value.last();
    }
  }
  *there = false;
  return 0;
}

std::string Figures(const v1::RunSummary& run) {
  std::string out;
  for (const auto& [field, title] :
       {std::pair("loss", "loss"), std::pair("loss_scale", "scale"),
        std::pair("grad_norm", "grad norm"),
        std::pair("learning_rate", "lr")}) {
    bool there = false;
    const double value = Latest(run, field, &there);
    if (there) out += fmt::format("{} {}   ", title, Number(value));
  }
  out += "overflows ";
  out += run.steps() > 0 && run.overflow_unknown() >= run.steps()
             ? "not collected"
             : Grouped(run.overflows());
  if (run.fate_unknown() == 0) {
    return out + fmt::format("   applied {} of {}", Grouped(run.applied()),
                             Grouped(run.attempts()));
  }
  return out + fmt::format("   {} attempts, {}", Grouped(run.attempts()),
                           CountText(run.applied(), run.attempts(),
                                     run.fate_unknown(), "applied"));
}

std::string Pictures(const v1::GetStepsResponse& steps, const Style& style) {
  std::string out;
  const auto add = [&](std::string_view title, std::string_view field,
                       Axis axis, int rows) {
    const std::string picture = Picture(steps, field, axis, rows, style);
    if (picture.empty()) return;
    out += style.Bold(title) + '\n' + picture;
  };
  add("loss scale (log2)", "loss_scale", Axis::kLog2, 6);
  if (steps.buckets_size() > 0) out += OverflowLine(steps, style);
  add("loss", "loss", Axis::kLinear, 6);
  if (steps.buckets_size() > 0) {
    out += style.Dim(
        fmt::format("{:>{}} └ step {} to {}\n", "", kPictureMargin - 2,
                    steps.buckets(0).first_step(),
                    steps.buckets(steps.buckets_size() - 1).last_step()));
  }
  return out;
}

std::string CauseLines(const v1::RunDetail& run, const Style& style) {
  if (run.causes_size() == 0) return "";
  const v1::CauseVerdict& cause = run.causes(0);
  std::string name = cause.cause();
  std::replace(name.begin(), name.end(), '_', ' ');
  std::string out = style.Bold(name) +
                    style.Dim(fmt::format(" ({})", Word(cause.grade()))) + '\n';
  const bool said =
      run.summary().headline().find(cause.sentence()) != std::string::npos;
  if (!said) out += Wrapped(cause.sentence(), 2, style.columns);
  for (int i = 0; i < std::min(cause.actions_size(), 2); ++i) {
    out += "  -> " +
           Wrapped(cause.actions(i).sentence(), 5, style.columns).substr(5);
  }
  return out;
}

std::string IncidentLines(const v1::RunDetail& run, const Style& style) {
  std::string out;
  int shown = 0;
  for (const v1::Incident& incident : run.incidents()) {
    if (shown++ == 5) break;
    out += fmt::format(
        "  {} {:<8} step {:<9} {}\n",
        style.Tint(incident.severity(),
                   fmt::format("{:<8}", Word(incident.worst()))),
        Word(incident.state()), incident.opened_step(),
        Fitted(incident.summary(), std::max(20, style.columns - 36)));
  }
  return out.empty() ? out : style.Bold("incidents") + '\n' + out;
}

std::string Screen(const v1::RunDetail& run, const v1::GetStepsResponse& steps,
                   const Style& style) {
  const v1::RunSummary& summary = run.summary();
  const v1::Severity shown = Shown(summary);
  std::string title(Word(shown));
  std::transform(title.begin(), title.end(), title.begin(), ::toupper);
  std::string out = fmt::format(
      "{}  {}\n{}\n", style.Bold(Fitted(summary.run_id(), 32)),
      style.Dim(fmt::format("attempt {}, {}, step {}, {} of {} ranks",
                            summary.attempt(), Word(summary.state()),
                            summary.last_step(), summary.ranks_open(),
                            summary.world_size())),
      style.Dim(Figures(summary)));
  out += '\n' + style.Tint(shown, title) + '\n' +
         Wrapped(summary.headline(), 2, style.columns) + '\n';
  out += Pictures(steps, style);
  const std::string causes = CauseLines(run, style);
  if (!causes.empty()) out += '\n' + causes;
  const std::string incidents = IncidentLines(run, style);
  if (!incidents.empty()) out += '\n' + incidents;
  return out;
}

// The screen's text from the top, with every line cleared to its end. What does
// not fit below is left out: the verdict stands first.
void Paint(const std::string& text, int rows) {
  std::string out = "\x1b[H";
  int row = 1;
  for (const char c : text) {
    if (c == '\n') {
      out += "\x1b[K";
      if (row++ == rows) break;
    }
    out += c;
  }
  out += "\x1b[J";
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
}

v1::GetStepsResponse ReadSteps(QueryClient& client, const RunChoice& run,
                               const Style& style) {
  v1::GetStepsRequest request;
  request.set_run_id(run.run_id);
  if (run.attempt) request.set_attempt(*run.attempt);
  request.set_points(std::max(20, style.columns - kPictureMargin));
  const Result<v1::GetStepsResponse> steps = client.GetSteps(request);
  // Without history there is no picture; the rest is shown all the same.
  return steps.ok() ? *steps : v1::GetStepsResponse();
}

}  // namespace

int WatchRun(QueryClient& client, const RunChoice& run, const Style& style,
             bool once) {
  if (once) {
    const Result<v1::RunDetail> detail = client.GetRun(run.run_id, run.attempt);
    if (!detail.ok()) return Fail(detail.error());
    std::fputs(Screen(*detail, ReadSteps(client, run, style), style).c_str(),
               stdout);
    return 0;
  }
  v1::WatchRunRequest request;
  request.set_run_id(run.run_id);
  if (run.attempt) request.set_attempt(*run.attempt);
  request.set_interval_ms(kIntervalMs);

  const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (terminal) {
    signal(SIGINT, LeaveAndExit);
    signal(SIGTERM, LeaveAndExit);
    std::fwrite(kEnter.data(), 1, kEnter.size(), stdout);
  }
  std::string last;
  const Status status =
      client.WatchRun(request, [&](const v1::RunDetail& detail) {
        const Style now = Style::OfTerminal();  // it may have been resized
        last = Screen(detail, ReadSteps(client, run, now), now);
        if (terminal) {
          Paint(last + now.Dim("\n^C ends this view, not the training"),
                now.rows);
        } else {
          std::fputs((last + '\n').c_str(), stdout);
        }
        return true;
      });
  if (terminal) {
    std::fwrite(kLeave, 1, sizeof kLeave - 1, stdout);
    std::fputs(last.c_str(), stdout);
  }
  if (!status.ok()) return Fail(status.error());
  return 0;
}

}  // namespace nanwatch
