// JudgeThread: judges what a training prints beside those who pass it on: the
// judge cannot hold the training up.

#ifndef NANWATCH_CLI_JUDGE_THREAD_H_
#define NANWATCH_CLI_JUDGE_THREAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/mailbox.h"
#include "base/mutex.h"
#include "cli/tail_judge.h"

namespace nanwatch {

class JudgeThread {
 public:
  // Begins. `judge`, whose only log is 0, is this thread's until Finish.
  // `look`: called between pieces, four times a second at least; may be empty.
  explicit JudgeThread(TailJudge* judge, std::function<void()> look = {});
  // REQUIRES: Finish was called.
  ~JudgeThread();
  JudgeThread(const JudgeThread&) = delete;
  JudgeThread& operator=(const JudgeThread&) = delete;

  // What follows of the log. Waits for at most a second, for a judge that is
  // far behind; then it goes by unjudged. Any thread.
  void Hand(std::string_view bytes);
  // Judges the rest. How many bytes went by unjudged. Once, last.
  uint64_t Finish();

 private:
  struct Piece {
    std::string bytes;
    bool after_gap = false;  // something before it went by unjudged
  };

  void Run();

  TailJudge* const judge_;
  const std::function<void()> look_;
  Mailbox<Piece> mailbox_;
  std::atomic<bool> ended_ = false;
  Mutex mutex_;  // of those who hand
  // The judge took nothing for long.
  bool stuck_ GUARDED_BY(mutex_) = false;
  // Something went by unjudged since.
  bool missing_ GUARDED_BY(mutex_) = false;
  uint64_t unjudged_ GUARDED_BY(mutex_) = 0;  // bytes
  std::thread thread_;                        // last: uses the others
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_JUDGE_THREAD_H_
