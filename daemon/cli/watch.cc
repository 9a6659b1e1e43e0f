// watch: a run while it happens.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

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
constexpr std::chrono::seconds kLayersEvery(2);
constexpr std::chrono::milliseconds kRetry(500);

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

v1::GetStepsResponse AskForSteps(QueryClient& client, const RunChoice& run,
                                 const Style& style) {
  v1::GetStepsRequest request;
  request.set_run_id(run.run_id);
  if (run.attempt) request.set_attempt(*run.attempt);
  request.set_points(std::max(5, style.columns - kPictureMargin));
  const Result<v1::GetStepsResponse> steps = client.GetSteps(request);
  // Without history there is no picture; the rest is shown all the same.
  return steps.ok() ? *steps : v1::GetStepsResponse();
}

// The lowest rank's; a look at them reads what thousands of statuses were.
class NewestLayers {
 public:
  const v1::GetLayersResponse& Read(QueryClient& client, const RunChoice& run,
                                    const v1::RunDetail& detail) {
    const auto now = std::chrono::steady_clock::now();
    if (detail.ranks_size() > 0 && (!read_ || now - *read_ >= kLayersEvery)) {
      read_ = now;
      const Result<v1::GetLayersResponse> layers =
          client.GetLayers(LayersOf(run, detail.ranks(0).rank()));
      if (layers.ok()) layers_ = *layers;
    }
    return layers_;
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> read_;
  v1::GetLayersResponse layers_;
};

// What is seen of a run, on a terminal in place, else one picture below the
// other. Gives the terminal back when it ends, with the newest picture.
class View {
 public:
  struct Picture {
    v1::RunDetail detail;
    v1::GetStepsResponse steps;
    v1::GetLayersResponse layers;
    Style style;
  };

  View() : terminal_(isatty(STDOUT_FILENO) != 0) {
    if (!terminal_) return;
    signal(SIGINT, LeaveAndExit);
    signal(SIGTERM, LeaveAndExit);
    std::fwrite(kEnter.data(), 1, kEnter.size(), stdout);
  }
  ~View() {
    if (!terminal_) return;
    std::fwrite(kLeave, 1, sizeof kLeave - 1, stdout);
    if (newest_) std::fputs(Frame(0).c_str(), stdout);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  void Show(Picture picture) {
    newest_ = std::move(picture);
    if (terminal_) {
      PaintWith("^C ends this view, not the training");
    } else {
      std::fputs((Frame(0) + '\n').c_str(), stdout);
    }
  }

  // Whether somebody looks on who can wait; says what for.
  bool WaitsFor(const std::string& trouble) {
    if (!terminal_ || !newest_) return false;
    newest_->style = Style::OfTerminal();
    PaintWith("waiting: " + trouble);
    return true;
  }

 private:
  std::string Frame(int rows) const {
    return WatchFrame(newest_->detail, newest_->steps, newest_->layers,
                      newest_->style, rows);
  }
  void PaintWith(const std::string& hint) const {
    const int rows = newest_->style.rows;
    if (rows < kRowsForHint) {
      Paint(Frame(rows), rows);
    } else {
      Paint(Frame(rows - 1) + newest_->style.Dim(hint), rows);
    }
  }

  const bool terminal_;
  std::optional<Picture> newest_;
};

}  // namespace

int WatchRun(QueryClient& client, const RunChoice& run, const Style& style,
             bool once) {
  NewestLayers layers;
  if (once) {
    const Result<v1::RunDetail> detail = client.GetRun(run.run_id, run.attempt);
    if (!detail.ok()) return Fail(detail.error());
    const auto steps = AskForSteps(client, run, style);
    std::fputs(
        WatchFrame(*detail, steps, layers.Read(client, run, *detail), style, 0)
            .c_str(),
        stdout);
    return 0;
  }
  v1::WatchRunRequest request;
  request.set_run_id(run.run_id);
  if (run.attempt) request.set_attempt(*run.attempt);
  request.set_interval_ms(kIntervalMs);

  View view;
  while (true) {
    const Status status =
        client.WatchRun(request, [&](const v1::RunDetail& detail) {
          const Style now = Style::OfTerminal();  // it may have been resized
          view.Show({detail, AskForSteps(client, run, now),
                     layers.Read(client, run, detail), now});
          return true;
        });
    if (status.ok()) return 0;
    // A daemon that restarts comes back, and the run with it. Who reads a file
    // or a pipe hears of the end.
    if (!view.WaitsFor(status.error())) return Fail(status.error());
    std::this_thread::sleep_for(kRetry);
  }
}

}  // namespace nanwatch
