// AuditLog: a JSON line for whatever somebody does or is not let do, in a file
// of its own or in the journal. A disk that is full or hangs holds up nobody:
// what is lost is counted, and a line says so when lines are taken again.

#ifndef NANWATCH_APP_AUDIT_LOG_H_
#define NANWATCH_APP_AUDIT_LOG_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "model/audit.h"
#include "model/self_sample.h"

namespace nanwatch {

// Where lines go.
class AuditOutput {
 public:
  virtual ~AuditOutput() = default;
  // `line` ends with a line feed. False: it is lost.
  virtual bool Write(const std::string& line) = 0;
  // Begins a new file where the old one was moved away. An error: it goes on
  // with the old one.
  virtual Status Reopen() = 0;
};

// An error names the file and what to do. Null: `options` ask for none.
Result<std::unique_ptr<AuditOutput>> OpenAudit(const AuditOptions& options);

class AuditLog {
 public:
  // As `options` say; of none, this does nothing. An error names the file.
  static Result<std::unique_ptr<AuditLog>> Open(const AuditOptions& options,
                                                Clock& clock);
  // `output` null: nothing is written. `clock` must outlive this.
  AuditLog(std::unique_ptr<AuditOutput> output, Clock& clock);
  // Writes what waits.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Unset where nothing is written. Must not outlive this.
  AuditSink Sink();
  // Any thread; never blocks.
  void Add(AuditEntry entry);
  // The file may have been moved away. Any thread.
  void Rotate();
  // Any thread.
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  struct Waiting {
    Time at{};
    AuditEntry entry;
  };
  void RunOnce(Duration wait);
  void Write(const Waiting& one);
  void WriteLine(const std::string& line);
  bool MayRefuse(Time now);
  bool tells_later() const {
    return left_out_ > told_left_out_ || lost_ > told_lost_;
  }
  void TellLeftOut(Time now);
  void TellLost(Time now);

  Clock& clock_;
  const std::unique_ptr<AuditOutput> output_;
  Mailbox<Waiting> waiting_;
  std::atomic<bool> rotate_{false};
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> lines_{0};
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> left_out_{0};
  // The thread's.
  std::vector<Waiting> batch_;
  uint64_t told_lost_ = 0;
  uint64_t told_left_out_ = 0;
  double refusals_ = 0;  // that may be written now
  Time refilled_{};
  std::thread thread_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_AUDIT_LOG_H_
