// Announced: what the client library in a program that `nanwatch run` started
// says of itself: that it tells the daemon, and as which runs.

#ifndef NANWATCH_CLI_ANNOUNCED_H_
#define NANWATCH_CLI_ANNOUNCED_H_

#include <string>
#include <vector>

namespace nanwatch {

class Announced {
 public:
  // Makes an empty file in a folder of its own, for NANWATCH_ANNOUNCE; removes
  // them at its end. Where none can be made, nobody announces himself.
  Announced();
  ~Announced();
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

  // Empty: there is none.
  const std::string& path() const { return path_; }
  // Any thread; asks the file system.
  bool any() const;
  // The run ids, each once, in the order of their first session; some only,
  // where there are hundreds.
  std::vector<std::string> runs() const;

 private:
  std::string folder_;
  std::string path_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_ANNOUNCED_H_
