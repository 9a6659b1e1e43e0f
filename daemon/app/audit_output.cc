#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "app/audit_log.h"
#include "base/file.h"
#include "base/folder.h"

namespace nanwatch {
namespace {

// -1: errno says why. A link, a pipe or a device is no file of ours.
int OpenAppending(const std::string& path) {
  const int fd =
      open(path.c_str(),
           O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
           0600);
  if (fd < 0) return -1;
  struct stat found {};
  if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
      fchmod(fd, 0600) == 0) {
    return fd;
  }
  const int why = S_ISREG(found.st_mode) ? errno : EINVAL;
  close(fd);
  errno = why;
  return -1;
}

Error CannotOpen(const std::string& path) {
  const std::string why = errno == EINVAL || errno == ELOOP
                              ? "it is no plain file"
                              : std::strerror(errno);
  return Error{"cannot write the audit file " + path + ": " + why +
               "; set audit.file to one that nanwatchd may write"};
}

class FileOutput : public AuditOutput {
 public:
  FileOutput(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~FileOutput() override { close(fd_); }

  bool Write(const std::string& line) override {
    // What stands there without an end is no line, and stays one of its own.
    const std::string text = torn_ ? "\n" + line : line;
    size_t at = 0;
    while (at < text.size()) {
      const ssize_t n = write(fd_, text.data() + at, text.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    if (at > 0) torn_ = at < text.size();
    return at == text.size();
  }

  Status Reopen() override {
    const int fd = OpenAppending(path_);
    if (fd < 0) return CannotOpen(path_);
    close(std::exchange(fd_, fd));
    torn_ = false;
    return OkStatus();
  }

 private:
  const std::string path_;
  int fd_;
  bool torn_ = false;  // the last write ended in the middle of a line
};

class JournalOutput : public AuditOutput {
 public:
  bool Write(const std::string& line) override {
    constexpr std::string_view kName = "SYSLOG_IDENTIFIER=nanwatchd-audit";
    constexpr std::string_view kNotice = "PRIORITY=5";
    std::string message = "MESSAGE=" + line;
    message.pop_back();
    const auto field = [](std::string_view text) {
      return iovec{const_cast<char*>(text.data()), text.size()};
    };
    const iovec fields[] = {field(message), field(kName), field(kNotice)};
    return sd_journal_sendv(fields, 3) == 0;
  }
  Status Reopen() override { return OkStatus(); }
};

}  // namespace

Result<std::unique_ptr<AuditOutput>> OpenAudit(const AuditOptions& options) {
  if (options.journal) {
    return std::unique_ptr<AuditOutput>(std::make_unique<JournalOutput>());
  }
  if (options.file.empty()) return std::unique_ptr<AuditOutput>();
  const Status folder = MakeFolder(ParentDirectory(options.file), 0700);
  if (!folder.ok()) {
    return Error{"the audit file " + options.file + ": " + folder.error()};
  }
  const int fd = OpenAppending(options.file);
  if (fd < 0) return CannotOpen(options.file);
  return std::unique_ptr<AuditOutput>(
      std::make_unique<FileOutput>(options.file, fd));
}

}  // namespace nanwatch
