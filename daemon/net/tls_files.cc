#include "net/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <spdlog/fmt/chrono.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/clock.h"
#include "base/log.h"

namespace nanwatch {
namespace {

// A bundle of the web's authorities has 200 KB.
constexpr size_t kFileMost = 4 << 20;
// What renews certificates does so earlier: ACME's clients 30 days before the
// end, cert-manager at two thirds, SPIRE at half of a life of an hour.
constexpr std::chrono::days kSoon{7};
constexpr int kSoonOfLife = 5;  // or at so much of it, where that is less

template <typename T, void (*kFree)(T*)>
struct Free {
  void operator()(T* it) const { kFree(it); }
};
using Certificate = std::unique_ptr<X509, Free<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY, EVP_PKEY_free>>;
struct FreeBio {
  void operator()(BIO* it) const { BIO_free(it); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

Bio Over(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The next one of `pem`.
Certificate NextCertificate(const Bio& pem) {
  Certificate certificate(
      PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

Certificate FirstCertificate(const std::string& pem) {
  return NextCertificate(Over(pem));
}

std::optional<Time> TimeOf(const ASN1_TIME* given) {
  std::tm time{};
  if (ASN1_TIME_to_tm(given, &time) != 1) return std::nullopt;
  return Time(std::chrono::seconds(timegm(&time)));
}

Key ParseKey(const std::string& pem) {
  // A key with a password asks nobody for it.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  Key key(
      PEM_read_bio_PrivateKey(Over(pem).get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

Result<std::string> ReadText(const std::string& path) {
  struct stat found {};
  errno = 0;
  std::ifstream stream;
  // Not a pipe that nobody writes to.
  if (stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
    stream.open(path, std::ios::binary);
  }
  if (!stream.is_open()) {
    return Error{
        fmt::format("cannot read {}: {}", path,
                    errno == 0 ? "it is no file" : std::strerror(errno))};
  }
  std::string text(kFileMost + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  text.shrink_to_fit();  // it is kept
  if (text.size() > kFileMost) {
    return Error{fmt::format("{} has more than {} bytes", path, kFileMost)};
  }
  return text;
}

}  // namespace

Result<TlsTexts> ReadTls(const TlsOptions& options) {
  TlsTexts texts;
  for (const auto& [path, text] :
       {std::pair(&options.certificate, &texts.certificate),
        std::pair(&options.key, &texts.key),
        std::pair(&options.client_ca, &texts.client_ca)}) {
    if (path->empty()) continue;
    Result<std::string> read = ReadText(*path);
    if (!read) return Error{read.error()};
    *text = std::move(*read);
  }
  const Certificate certificate = FirstCertificate(texts.certificate);
  if (certificate == nullptr) {
    return Error{options.certificate + " holds no certificate (PEM)"};
  }
  const Key key = ParseKey(texts.key);
  if (key == nullptr) {
    return Error{options.key + " holds no key (PEM, without a password)"};
  }
  const bool pair = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!pair) {
    return Error{fmt::format("the key {} is not that of the certificate {}",
                             options.key, options.certificate)};
  }
  if (!options.client_ca.empty() &&
      FirstCertificate(texts.client_ca) == nullptr) {
    return Error{options.client_ca + " holds no certificate (PEM)"};
  }
  return texts;
}

std::optional<Validity> ValidityOf(const std::string& pem) {
  const Bio text = Over(pem);
  std::optional<Validity> first;
  while (const Certificate certificate = NextCertificate(text)) {
    const auto begin = TimeOf(X509_get0_notBefore(certificate.get()));
    const auto end = TimeOf(X509_get0_notAfter(certificate.get()));
    if (begin && end && (!first || *end < first->end)) {
      first = Validity{*begin, *end};
    }
  }
  return first;
}

bool ExpiresSoon(const Validity& valid, Time now) {
  const Duration soon =
      std::min<Duration>(kSoon, (valid.end - valid.begin) / kSoonOfLife);
  return now >= valid.end - soon;
}

std::string TlsStamp(const TlsOptions& options) {
  std::string stamp;
  for (const std::string* path :
       {&options.certificate, &options.key, &options.client_ca}) {
    struct stat found {};
    if (path->empty() || stat(path->c_str(), &found) != 0) {
      stamp += "-;";
      continue;
    }
    stamp +=
        fmt::format("{} {} {} {}.{};", found.st_dev, found.st_ino,
                    found.st_size, found.st_ctim.tv_sec, found.st_ctim.tv_nsec);
  }
  return stamp;
}

Result<std::unique_ptr<TlsFiles>> TlsFiles::Open(const TlsOptions& options) {
  // Before the texts: what is written meanwhile is another stamp.
  std::string stamp = TlsStamp(options);
  Result<TlsTexts> texts = ReadTls(options);
  if (!texts) return Error{texts.error()};
  return std::unique_ptr<TlsFiles>(
      new TlsFiles(options, std::move(*texts), std::move(stamp)));
}

std::optional<TlsTexts> TlsFiles::Newer() {
  MutexLock lock(mutex_);
  Look();
  if (given_) return std::nullopt;
  given_ = true;
  return texts_;
}

std::optional<Validity> TlsFiles::Valid() {
  MutexLock lock(mutex_);
  Look();
  return valid_;
}

void TlsFiles::Look() {
  const std::string stamp = TlsStamp(options_);
  if (stamp != stamp_) {
    stamp_ = stamp;
    Result<TlsTexts> texts = ReadTls(options_);
    if (!texts) {
      LogError("the certificate was not read again, the old one holds",
               texts.error());
    } else if (*texts != texts_) {
      texts_ = std::move(*texts);
      given_ = false;
      valid_ = ValidityOf(texts_.certificate);
      end_told_ = {};
      LogInfo("the certificate was read again", options_.certificate);
    }
  }
  WarnOfEnd(SystemClock().Now());
}

void TlsFiles::WarnOfEnd(Time now) {
  const Time again = end_told_ + std::chrono::days(1);
  if (!valid_ || !ExpiresSoon(*valid_, now) || now < again) return;
  end_told_ = now;
  LogWarning(
      now < valid_->end ? "a certificate expires soon: put a new one there"
                        : "a certificate has expired, and nobody believes it",
      fmt::format(
          "{} end={:%FT%TZ}", options_.certificate,
          fmt::gmtime(std::chrono::system_clock::to_time_t(valid_->end))));
}

}  // namespace nanwatch
