#include "cli/judge_thread.h"

#include <chrono>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace nanwatch {
namespace {

// A training may be so far ahead of the judge, which reads 100 MB/s and more.
constexpr size_t kAheadBytes = 8 * 1024 * 1024;
constexpr size_t kAheadPieces = 1 << 16;
// The judge is waited for so long before something goes by unjudged: only what
// comes faster than it reads (`cat big.log |`) ever waits at all.
constexpr std::chrono::seconds kPatience(1);
constexpr std::chrono::milliseconds kLookForLines(250);

}  // namespace

JudgeThread::JudgeThread(TailJudge* judge, std::function<void()> look)
    : judge_(judge),
      look_(std::move(look)),
      mailbox_(kAheadPieces, kAheadBytes),
      thread_([this] { Run(); }) {}

JudgeThread::~JudgeThread() = default;

void JudgeThread::Hand(std::string_view bytes) {
  MutexLock lock(mutex_);
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

uint64_t JudgeThread::Finish() {
  ended_ = true;
  mailbox_.Close();
  thread_.join();
  MutexLock lock(mutex_);
  return unjudged_;
}

void JudgeThread::Run() {
  std::vector<Piece> pieces;
  while (true) {
    const bool last = ended_;
    mailbox_.PopAll(kLookForLines, &pieces);
    for (const Piece& piece : pieces) {
      if (piece.after_gap) judge_->Break(0);
      judge_->Feed(0, piece.bytes, SystemClock().Now());
    }
    if (look_) look_();
    if (last && pieces.empty()) return;
    judge_->Tick(SystemClock().Now());
  }
}

}  // namespace nanwatch
