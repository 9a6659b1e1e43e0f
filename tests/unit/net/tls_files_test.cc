#include "net/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const auto bytes = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(bytes));
  BIO_free(bio);
  return text;
}

struct Pair {
  std::string certificate;
  std::string key;
};

// 2033-05-18.
constexpr time_t kEnd = 2'000'000'000;

// One that signs itself.
Pair MakePair() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  ASN1_TIME_set(X509_getm_notAfter(certificate), kEnd);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  BIO* const written = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(written, certificate);
  BIO* const secret = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(secret, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return {TextOf(written), TextOf(secret)};
}

class TlsFilesTest : public testing::Test {
 protected:
  TlsFilesTest() {
    Write("c", pair_.certificate);
    Write("k", pair_.key);
    Write("a", MakePair().certificate);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name) << text;
  }
  std::string ErrorOf(const TlsOptions& options) {
    const auto texts = ReadTls(options);
    return texts.ok() ? "" : texts.error();
  }

  TempDir dir_;
  const Pair pair_ = MakePair();
  const TlsOptions options_{dir_ / "c", dir_ / "k", dir_ / "a"};
};

TEST_F(TlsFilesTest, ReadsWhenACertificateExpires) {
  EXPECT_EQ(EndOf(pair_.certificate), Time(std::chrono::seconds(kEnd)));
  EXPECT_FALSE(EndOf(pair_.key).has_value());
  EXPECT_FALSE(EndOf("").has_value());
}

TEST_F(TlsFilesTest, ReadsACertificateItsKeyAndAnAuthority) {
  const auto texts = ReadTls(options_);
  ASSERT_TRUE(texts.ok()) << texts.error();
  EXPECT_EQ(texts->certificate, pair_.certificate);
  EXPECT_EQ(texts->key, pair_.key);
  EXPECT_NE(texts->client_ca, "");
  const auto without = ReadTls({options_.certificate, options_.key, ""});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->client_ca, "");
}

TEST_F(TlsFilesTest, SaysWhichFileIsWrong) {
  mkfifo((dir_ / "pipe").c_str(), 0600);
  EXPECT_THAT(ErrorOf({dir_ / "none", dir_ / "k", ""}), HasSubstr("/none"));
  EXPECT_THAT(ErrorOf({dir_ / "c", dir_ / "pipe", ""}), HasSubstr("/pipe"));
  EXPECT_THAT(ErrorOf({dir_ / "k", dir_ / "k", ""}),
              HasSubstr("/k holds no certificate"));
  EXPECT_THAT(ErrorOf({dir_ / "c", dir_ / "c", ""}),
              HasSubstr("/c holds no key"));
  EXPECT_THAT(ErrorOf({dir_ / "c", dir_ / "k", dir_ / "k"}),
              HasSubstr("/k holds no certificate"));
  Write("k", MakePair().key);
  const std::string said = ErrorOf(options_);
  EXPECT_THAT(said, HasSubstr("is not that of the certificate"));
  EXPECT_THAT(said, Not(HasSubstr("BEGIN")));
}

TEST_F(TlsFilesTest, ALookAtTheFilesFindsWhatChanged) {
  const auto files = TlsFiles::Open(options_);
  ASSERT_TRUE(files.ok()) << files.error();
  EXPECT_EQ((*files)->Newer()->key, pair_.key);
  EXPECT_FALSE((*files)->Newer());
  const Pair next = MakePair();
  Write("k", next.key);
  EXPECT_FALSE((*files)->Newer()) << "not that of the certificate";
  Write("c", next.certificate);
  EXPECT_EQ((*files)->Newer()->key, next.key);
  EXPECT_FALSE((*files)->Newer());
}

TEST_F(TlsFilesTest, TheStampIsOfEachFile) {
  const std::string before = TlsStamp(options_);
  EXPECT_EQ(TlsStamp(options_), before);
  std::set<std::string> stamps = {before};
  for (const char* name : {"c", "k", "a"}) {
    Write(name, "another");
    EXPECT_TRUE(stamps.insert(TlsStamp(options_)).second) << name;
  }
}

}  // namespace
}  // namespace nanwatch
