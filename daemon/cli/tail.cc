// nanwatch tail: logs of other programs, judged while they grow.

#include <fcntl.h>
#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/log_input.h"
#include "cli/tail_feed.h"
#include "cli/tail_file.h"
#include "cli/tail_judge.h"
#include "cli/tail_pipe.h"
#include "cli/tail_ranks.h"
#include "cli/tail_stop.h"
#include "cli/tail_voice.h"
#include "cli/tee_out.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

// How often files are asked whether they grew.
constexpr std::chrono::milliseconds kLookForStop(250);
// What is read of a file before others have their turn: so what waits for
// them to be judged stays small.
constexpr size_t kTurnBytes = 16 * 1024;
// After ^C what was written before is still read, but not for longer.
constexpr std::chrono::seconds kLastLook(1);

// Standard input, a named pipe, a shell's <(...), a terminal: read once, until
// it ends. And what is no log.
bool IsPipe(const std::string& path) {
  if (path == "-") return true;
  struct stat named;
  return stat(path.c_str(), &named) == 0 && !S_ISREG(named.st_mode) &&
         !S_ISDIR(named.st_mode);
}

// "gpt1.3b" of "/logs/gpt1.3b.log.gz".
std::string Stem(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  for (const std::string_view ending :
       {".gz", ".zst", ".log", ".txt", ".out", ".jsonl", ".csv"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.erase(name.size() - ending.size());
    }
  }
  return name;
}

// Files being followed, in turns.
class FileTail {
 public:
  FileTail(const std::vector<std::string>& paths, bool new_only, TeeOut* tee,
           TailJudge* judge, TailVoice* voice)
      : tee_(tee), judge_(judge), voice_(voice) {
    for (const std::string& path : paths) {
      files_.emplace_back(path, !new_only);
      if (!files_.back().there()) {
        voice_->Note(fmt::format("{} is not there yet", path));
      }
    }
  }

  // False: nobody reads what is passed on any more.
  bool Run(StopSignals* stop) {
    bool stopped = false;
    auto end = std::chrono::steady_clock::time_point::max();
    while (true) {
      more_.assign(files_.size(), true);
      judge_->Look();
      while (Turn()) {
        if (broken_) return false;
        if (!stopped && stop->Wait({})) {
          stopped = true;
          end = std::chrono::steady_clock::now() + kLastLook;
        }
        if (std::chrono::steady_clock::now() >= end) return true;
      }
      if (stopped) return true;
      judge_->Tick(SystemClock().Now());
      stopped = stop->Wait(kLookForStop);
      if (stopped) end = std::chrono::steady_clock::now() + kLastLook;
    }
  }

 private:
  // A piece of the file that is furthest behind. False: there is none.
  bool Turn() {
    size_t next = files_.size();
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!more_[i]) continue;
      if (next == files_.size() ||
          judge_->newest_step(i) < judge_->newest_step(next)) {
        next = i;
      }
    }
    if (next == files_.size()) return false;
    const FollowedFile::Piece piece = files_[next].Read(kTurnBytes);
    Report(next, piece.news);
    more_[next] = !piece.bytes.empty();
    if (piece.bytes.empty()) {
      judge_->Nothing(next);
      return true;
    }
    Tee(next, piece.bytes);
    judge_->Feed(next, piece.bytes, SystemClock().Now());
    return true;
  }

  void Report(size_t number, FollowedFile::News news) {
    const FollowedFile& file = files_[number];
    switch (news) {
      case FollowedFile::News::kNone:
        return;
      case FollowedFile::News::kAppeared:
        voice_->Note(fmt::format("{} is there", file.path()));
        return;
      case FollowedFile::News::kReplaced:
        judge_->Break(number);
        voice_->Note(fmt::format("{} is another file now", file.path()));
        return;
      case FollowedFile::News::kCut:
        judge_->Break(number);
        voice_->Note(
            fmt::format("{} was cut, and is read from its start", file.path()));
        return;
      case FollowedFile::News::kDenied:
        voice_->Note(file.error());
        return;
    }
  }

  void Tee(size_t number, std::string_view bytes) {
    if (tee_ == nullptr) return;
    if (files_.size() > 1 && shown_ != number) {
      const char* before = shown_ == kNoFile ? "" : "\n";
      broken_ |= !tee_->Write(
          fmt::format("{}==> {} <==\n", before, files_[number].path()));
    }
    shown_ = number;
    const bool fine = tee_->error().empty();
    broken_ |= !tee_->Write(bytes);
    if (fine && !tee_->error().empty()) voice_->Note(tee_->error());
  }

  static constexpr size_t kNoFile = static_cast<size_t>(-1);
  TeeOut* const tee_;
  TailJudge* const judge_;
  TailVoice* const voice_;
  std::vector<FollowedFile> files_;
  std::vector<bool> more_;
  size_t shown_ = kNoFile;  // whose bytes were passed on last
  bool broken_ = false;
};

std::vector<std::optional<int32_t>> RanksOf(
    const std::vector<std::string>& paths, const TailOptions& options) {
  if (paths.size() == 1) {
    return {options.rank ? options.rank : RankOfLog(paths[0])};
  }
  const std::vector<int32_t> ranks = RanksOfLogs(paths);
  return {ranks.begin(), ranks.end()};
}

// Ranks' sessions must agree on a run, and have only the environment to ask.
std::string RunIdFor(const std::vector<std::string>& paths,
                     const TailOptions& options) {
  if (!options.run_id.empty() || paths.size() == 1) return options.run_id;
  const std::string set = ProcessEnvironment()("NANWATCH_RUN_ID");
  if (!set.empty()) return set;
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return fmt::format("{}-{}-{}", Stem(paths[0]), text, getpid());
}

// Null: no daemon is wanted, or none is named and none runs.
std::unique_ptr<TailFeed> FindFeed(const std::vector<std::string>& paths,
                                   const TailOptions& options) {
  if (!options.daemon) return nullptr;
  TailFeed::Options feed;
  feed.address = options.address;
  if (feed.address.empty()) {
    feed.address = FindDaemon();
    constexpr std::string_view kUnix = "unix:";
    const bool named = !ProcessEnvironment()("NANWATCH_ADDRESS").empty();
    if (!named && feed.address.starts_with(kUnix) &&
        access(feed.address.c_str() + kUnix.size(), F_OK) != 0) {
      return nullptr;
    }
  }
  feed.job = paths[0] == "-" ? "standard input" : Stem(paths[0]);
  feed.run_id = RunIdFor(paths, options);
  feed.rank_of_environment = paths.size() == 1 && !RanksOf(paths, options)[0];
  return std::make_unique<TailFeed>(std::move(feed));
}

// As a program ends that writes to a pipe which nobody reads.
void EndBySigpipe() {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

int Conclude(const LogVerdict& verdict, const std::vector<std::string>& paths,
             const std::string& run, const TailVoice& voice) {
  std::string name = paths[0];
  if (paths.size() > 1) {
    name += fmt::format(" and {} more", paths.size() - 1);
  }
  std::string more;
  if (verdict.worst >= Severity::kWarning) {
    if (!run.empty()) {
      more = fmt::format("`nanwatch diagnose {}` says why.", Clean(run));
    } else if (!IsPipe(paths[0]) && paths.size() == 1) {
      more = fmt::format("`nanwatch check {}` says why.", paths[0]);
    }
  }
  return voice.Conclude(verdict, name, more);
}

}  // namespace

int TailLogs(const std::vector<std::string>& paths,
             const TailOptions& options) {
  const bool pipe = std::any_of(paths.begin(), paths.end(), IsPipe);
  if (pipe && paths.size() > 1) {
    return Fail("a pipe can only be followed alone", kExitUsage);
  }
  if (options.rank && paths.size() > 1) {
    return Fail("--rank is for one log; several are ranks by their names",
                kExitUsage);
  }
  int file = STDIN_FILENO;
  if (pipe && paths[0] != "-") {
    file = open(paths[0].c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return Fail(fmt::format("{} cannot be opened", paths[0]));
    if (IsDevice(file)) {
      return Fail(paths[0] + ": this is a device, no log: name a file");
    }
  }
  StopSignals stop;  // before any thread
  signal(SIGPIPE, SIG_IGN);
  TailVoice voice(options.tee ? STDERR_FILENO : STDOUT_FILENO, options.json);
  const std::unique_ptr<TailFeed> feed = FindFeed(paths, options);
  TailJudge judge({.format = options.format,
                   .columns = options.columns,
                   .ranks = RanksOf(paths, options),
                   .files = paths,
                   .idle_flush = options.idle_flush,
                   .voice = &voice,
                   .feed = feed.get()});
  TeeOut tee;
  TeeOut* const out = options.tee ? &tee : nullptr;
  const bool read =
      pipe ? TailPipe(file, out, &judge, &voice, &stop).Run()
           : FileTail(paths, options.new_only, out, &judge, &voice).Run(&stop);
  const LogVerdict verdict = judge.Finish();
  std::string run;
  if (feed != nullptr) {
    run = feed->run_id();
    const std::string lost = feed->Close();
    if (!lost.empty()) voice.Note(lost);
  }
  const int status = Conclude(verdict, paths, run, voice);
  if (!read) EndBySigpipe();
  return status;
}

}  // namespace nanwatch
