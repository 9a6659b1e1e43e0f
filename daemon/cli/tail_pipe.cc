#include "cli/tail_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "cli/style.h"

namespace nanwatch {
namespace {

constexpr size_t kPipePiece = 64 * 1024;
// Of a pipe in the kernel: room for a training that prints while this program
// does not run.
constexpr int kPipeBytes = 1024 * 1024;

}  // namespace

TailPipe::TailPipe(int file, TeeOut* tee, TailJudge* judge, TailVoice* voice,
                   StopSignals* stop)
    : file_(file),
      tee_(tee),
      judge_(judge),
      voice_(voice),
      stop_(stop),
      piece_(kPipePiece, '\0') {
  fcntl(file_, F_SETPIPE_SZ, kPipeBytes);  // a wish; not all are pipes
}

bool TailPipe::Run() {
  JudgeThread judging(judge_);
  Step step = Step::kGoOn;
  while (step == Step::kGoOn) step = ReadOne(&judging);
  const uint64_t unjudged = judging.Finish();
  if (unjudged > 0) {
    voice_->Note(fmt::format("{} bytes came too fast and were not judged",
                             Grouped(unjudged)));
  }
  return step != Step::kNobodyReads;
}

TailPipe::Step TailPipe::ReadOne(JudgeThread* judging) {
  pollfd both[] = {{file_, POLLIN, 0}, {stop_->file(), POLLIN, 0}};
  if (poll(both, 2, -1) < 0) return Step::kGoOn;  // EINTR
  if (both[1].revents != 0 && Stopped()) return Step::kEnd;
  if (both[0].revents == 0) return Step::kGoOn;
  const ssize_t got = read(file_, piece_.data(), piece_.size());
  if (got == 0) return Step::kEnd;
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return Step::kGoOn;
    voice_->Note(fmt::format("standard input: {}", std::strerror(errno)));
    return Step::kEnd;
  }
  const std::string_view bytes(piece_.data(), static_cast<size_t>(got));
  if (tee_ != nullptr) {
    const bool fine = tee_->error().empty();
    if (!tee_->Write(bytes)) return Step::kNobodyReads;
    if (fine && !tee_->error().empty()) voice_->Note(tee_->error());
  }
  judging->Hand(bytes);
  return Step::kGoOn;
}

bool TailPipe::Stopped() {
  if (!stop_->Wait({})) return false;
  if (++signals_ > 1 || isatty(file_) != 0) return true;
  voice_->Note("waiting for the pipe's end; once more ends this at once");
  return false;
}

}  // namespace nanwatch
