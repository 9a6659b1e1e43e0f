// StopSignals: ^C and its like as something that can be waited for.

#ifndef NANWATCH_CLI_TAIL_STOP_H_
#define NANWATCH_CLI_TAIL_STOP_H_

#include "base/time.h"

namespace nanwatch {

class StopSignals {
 public:
  // Holds back INT, TERM and HUP in this thread and those that it starts from
  // now on, unless they are ignored already (nohup, a shell's background).
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Readable when one came; for poll().
  int file() const { return file_; }
  // True when one came within `wait`; takes it.
  bool Wait(Duration wait);

 private:
  int file_ = -1;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_STOP_H_
