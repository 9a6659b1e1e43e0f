#include "cli/tail_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace nanwatch {
namespace {

constexpr size_t kPiece = 64 * 1024;
// A training may be so far ahead of the judge, which reads 100 MB/s and more.
constexpr size_t kAheadBytes = 8 * 1024 * 1024;
constexpr size_t kAheadPieces = 1 << 16;
// The judge is waited for so long before something goes by unjudged: only what
// comes faster than it reads (`cat big.log |`) ever waits at all.
constexpr std::chrono::seconds kPatience(1);
constexpr std::chrono::milliseconds kLook(250);
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
      mailbox_(kAheadPieces, kAheadBytes),
      piece_(kPiece, '\0') {
  fcntl(file_, F_SETPIPE_SZ, kPipeBytes);  // a wish; not all are pipes
}

bool TailPipe::Run() {
  std::thread judging([this] { JudgeAll(); });
  Step step = Step::kGoOn;
  while (step == Step::kGoOn) step = ReadOne();
  ended_ = true;
  mailbox_.Close();
  judging.join();
  if (unjudged_ > 0) {
    voice_->Note(fmt::format("{} bytes came too fast and were not judged",
                             Grouped(unjudged_)));
  }
  return step != Step::kNobodyReads;
}

TailPipe::Step TailPipe::ReadOne() {
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
  Hand(bytes);
  return Step::kGoOn;
}

bool TailPipe::Stopped() {
  if (!stop_->Wait({})) return false;
  if (++signals_ > 1 || isatty(file_) != 0) return true;
  voice_->Note("waiting for the pipe's end; once more ends this at once");
  return false;
}

void TailPipe::Hand(std::string_view bytes) {
  Piece piece{std::string(bytes), missing_};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  // A mailbox that refuses leaves the piece as it is.
  while (!mailbox_.TryPush(std::move(piece),  // NOLINT(bugprone-use-after-move)
                           bytes.size())) {
    if (stuck_ || std::chrono::steady_clock::now() >= end) {
      stuck_ = missing_ = true;
      unjudged_ += bytes.size();
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stuck_ = missing_ = false;
}

void TailPipe::JudgeAll() {
  std::vector<Piece> pieces;
  while (true) {
    const bool last = ended_;
    mailbox_.PopAll(kLook, &pieces);
    for (const Piece& piece : pieces) {
      if (piece.after_gap) judge_->Break(0);
      judge_->Feed(0, piece.bytes, SystemClock().Now());
    }
    if (last && pieces.empty()) return;
    judge_->Tick(SystemClock().Now());
  }
}

}  // namespace nanwatch
