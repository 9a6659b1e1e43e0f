// A pipe that `nanwatch tail` stands in: `train.py 2>&1 | nanwatch tail -`.
// What comes is passed on first and judged afterwards, on a thread of its own:
// the judge cannot hold the training up.

#ifndef NANWATCH_CLI_TAIL_PIPE_H_
#define NANWATCH_CLI_TAIL_PIPE_H_

#include <cstdint>
#include <string>

#include "cli/judge_thread.h"
#include "cli/tail_judge.h"
#include "cli/tail_stop.h"
#include "cli/tail_voice.h"
#include "cli/tee_out.h"

namespace nanwatch {

class TailPipe {
 public:
  // Reads `file`. `tee`: null: passes nothing on. All must outlive this.
  TailPipe(int file, TeeOut* tee, TailJudge* judge, TailVoice* voice,
           StopSignals* stop);

  // Until the pipe ends. A first signal is for the training at its other end,
  // whose last words are waited for; a second one ends this, and a first one
  // where there is no training but a terminal. False: nobody reads what is
  // passed on any more.
  bool Run();

 private:
  enum class Step : uint8_t { kGoOn, kEnd, kNobodyReads };

  Step ReadOne(JudgeThread* judging);
  bool Stopped();

  const int file_;
  TeeOut* const tee_;
  TailJudge* const judge_;
  TailVoice* const voice_;
  StopSignals* const stop_;
  int signals_ = 0;
  std::string piece_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_PIPE_H_
