// TlsFiles: the server's certificate and key, and whom clients' certificates
// come from. Read again when a file changes.

#ifndef NANWATCH_NET_TLS_FILES_H_
#define NANWATCH_NET_TLS_FILES_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"

namespace nanwatch {

// Paths of PEM files.
struct TlsOptions {
  std::string certificate;  // empty: no TLS
  std::string key;
  std::string client_ca;  // empty: clients' certificates are not asked for
};

// PEM.
struct TlsTexts {
  std::string certificate;  // with those between it and its authority
  std::string key;
  std::string client_ca;  // empty: clients' certificates are not asked for
  bool operator==(const TlsTexts&) const = default;
};

// Reads the files and tries them: the key belongs to the certificate, and each
// holds what it should. An error names the file.
Result<TlsTexts> ReadTls(const TlsOptions& options);

// Changes when one of the files does.
std::string TlsStamp(const TlsOptions& options);

struct Validity {
  Time begin{};
  Time end{};
};

// Of the certificate of `pem` that expires first: of one, or of those between
// it and its authority. nullopt: it holds none.
std::optional<Validity> ValidityOf(const std::string& pem);
// By `now` another one should have been there: less than 7 days are left, or
// less than a fifth of a short life.
bool ExpiresSoon(const Validity& valid, Time now);

// Looks after the files: to be asked at each handshake, and at each scrape,
// since a port may be idle when they change. Files that do not fit each other
// are logged, and what was read before them holds. A certificate that has
// expired, or soon will, is logged once a day. Any thread.
class TlsFiles {
 public:
  // An error says what is wrong with which file.
  static Result<std::unique_ptr<TlsFiles>> Open(const TlsOptions& options);

  // What the files hold, at the first call and when it is something else than
  // at the one before; nullopt: it is the same.
  std::optional<TlsTexts> Newer();

  // Of the server's certificate, as `Newer` gives it.
  std::optional<Validity> Valid();

 private:
  TlsFiles(TlsOptions options, TlsTexts texts, std::string stamp)
      : options_(std::move(options)),
        texts_(std::move(texts)),
        stamp_(std::move(stamp)),
        valid_(ValidityOf(texts_.certificate)) {}
  void Look() REQUIRES_LOCK(mutex_);
  void WarnOfEnd(Time now) REQUIRES_LOCK(mutex_);

  const TlsOptions options_;
  Mutex mutex_;
  TlsTexts texts_ GUARDED_BY(mutex_);
  std::string stamp_ GUARDED_BY(mutex_);  // of the files last looked at
  std::optional<Validity> valid_ GUARDED_BY(mutex_);  // the certificate
  Time end_told_ GUARDED_BY(mutex_){};                // when it was logged
  bool given_ GUARDED_BY(mutex_) = false;             // the caller has `texts_`
};

}  // namespace nanwatch

#endif  // NANWATCH_NET_TLS_FILES_H_
