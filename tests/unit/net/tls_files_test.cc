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

Time At(time_t seconds) { return Time(std::chrono::seconds(seconds)); }

// One that signs itself.
Pair MakePair(time_t end = kEnd) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  ASN1_TIME_set(X509_getm_notAfter(certificate), end);
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
  EXPECT_EQ(ValidityOf(pair_.certificate)->end, At(kEnd));
  EXPECT_FALSE(ValidityOf(pair_.key).has_value());
  EXPECT_FALSE(ValidityOf("").has_value());
  // One of its chain counts as well, wherever it stands.
  const std::string sooner = MakePair(kEnd - 5).certificate;
  for (const std::string& chain :
       {pair_.certificate + sooner, sooner + pair_.certificate}) {
    EXPECT_EQ(ValidityOf(chain)->end, At(kEnd - 5));
  }
}

TEST(ExpiresSoonTest, IsSevenDaysOrAFifthOfAShortLife) {
  using std::chrono::days;
  using std::chrono::hours;
  const Validity year{At(kEnd) - days(365), At(kEnd)};
  EXPECT_FALSE(ExpiresSoon(year, At(kEnd) - days(8)));
  EXPECT_TRUE(ExpiresSoon(year, At(kEnd) - days(6)));
  EXPECT_TRUE(ExpiresSoon(year, At(kEnd) + days(1)));
  const Validity day{At(kEnd) - days(1), At(kEnd)};
  EXPECT_FALSE(ExpiresSoon(day, At(kEnd) - hours(8)));
  EXPECT_TRUE(ExpiresSoon(day, At(kEnd) - hours(4)));
}

TEST_F(TlsFilesTest, AScrapeLooksAtTheFilesOfAnIdlePort) {
  const auto files = TlsFiles::Open(options_);
  ASSERT_TRUE(files.ok()) << files.error();
  EXPECT_EQ((*files)->Valid()->end, At(kEnd));
  const Pair next = MakePair(kEnd + 5);
  Write("k", next.key);
  EXPECT_EQ((*files)->Valid()->end, At(kEnd)) << "the old one holds";
  Write("c", next.certificate);
  EXPECT_EQ((*files)->Valid()->end, At(kEnd + 5));
  EXPECT_EQ((*files)->Newer()->key, next.key) << "a handshake has it, too";
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
