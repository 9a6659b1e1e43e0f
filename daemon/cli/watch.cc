// watch: a run while it happens.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/picture.h"
#include "cli/watch_frame.h"

namespace nanwatch {
namespace {

// Another screen, no cursor, and no line that runs on in the next one.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr char kLeave[] = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr int kRowsForHint = 12;
constexpr uint32_t kIntervalMs = 250;

// Gives the terminal back; only what a signal handler may call.
void LeaveAndExit(int) {
  (void)!write(STDOUT_FILENO, kLeave, sizeof kLeave - 1);
  _exit(130);
}

// The screen's text from the top, with every line cleared to its end.
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
  request.set_points(std::max(5, style.columns - kPictureMargin));
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
    const auto steps = ReadSteps(client, run, style);
    std::fputs(WatchFrame(*detail, steps, style, 0).c_str(), stdout);
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
        const auto steps = ReadSteps(client, run, now);
        last = WatchFrame(detail, steps, now, 0);
        if (terminal) {
          const bool hint = now.rows >= kRowsForHint;
          Paint(
              WatchFrame(detail, steps, now, now.rows - (hint ? 1 : 0)) +
                  (hint ? now.Dim("^C ends this view, not the training") : ""),
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
