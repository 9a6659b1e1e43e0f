// The five small runs of `nanwatch demo`: made numbers, the same each time.

#ifndef NANWATCH_CLI_DEMO_RUN_H_
#define NANWATCH_CLI_DEMO_RUN_H_

#include <nanwatch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"

namespace nanwatch {

enum class DemoKind { kHealthy, kCollapse, kPadding, kNan, kDivergence };

// A training of one rank, to the last number its own.
class DemoRun {
 public:
  // `address`: the daemon's.
  DemoRun(DemoKind kind, const std::string& address);

  static std::string_view Name(DemoKind kind);   // "demo-collapse"
  static std::string_view About(DemoKind kind);  // a line for a person

  // Tells the next step, as of `time`.
  void Tell(Time time);
  // Returns whether the daemon has all that was told, in time.
  bool Flush(int timeout_ms) {
    return nanwatch_flush(session_.get(), timeout_ms) != 0;
  }

 private:
  // Tells the daemon that the run ended.
  struct Closer {
    void operator()(nanwatch_session* session) const;
  };

  int32_t Register(const char* name, const char* type, const char* format,
                   bool padded);
  double Noise();  // of a bell with deviation 1, about
  bool Overflows() const;
  double Loss() const;
  double GradientNorm();
  double SinceBegin() const;
  void TellOps(Time time);
  void TellOp(Time time, uint64_t elements, uint64_t nan, uint64_t inf);
  void MoveScale(bool overflow);

  const DemoKind kind_;
  const std::unique_ptr<nanwatch_session, Closer> session_;
  int32_t op_ = -1;  // where the trouble begins
  int64_t step_ = 0;
  int64_t clean_ = 0;  // updates in a row without an overflow
  double scale_;       // the loss scale
  uint64_t random_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_DEMO_RUN_H_
