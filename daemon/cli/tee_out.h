// TeeOut: where what a training prints is passed on to.

#ifndef NANWATCH_CLI_TEE_OUT_H_
#define NANWATCH_CLI_TEE_OUT_H_

#include <unistd.h>

#include <string>
#include <string_view>

namespace nanwatch {

class TeeOut {
 public:
  // `file`: standard output or standard error.
  explicit TeeOut(int file = STDOUT_FILENO) : file_(file) {}

  // `bytes` as they are, at once; waits as long as the reader lets it. False:
  // nobody reads any more. What cannot be written otherwise (a full disk) is
  // lost, and error() says so.
  bool Write(std::string_view bytes);

  // The first failure, a sentence; empty: none.
  const std::string& error() const { return error_; }

 private:
  const int file_;
  std::string error_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TEE_OUT_H_
