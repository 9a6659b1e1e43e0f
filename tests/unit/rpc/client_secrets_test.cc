#include "rpc/client_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

class ClientSecretsTest : public testing::Test {
 protected:
  void Set(const std::string& variable, const std::string& text) {
    std::ofstream(dir_ / variable) << text;
    set_[variable] = dir_ / variable;
  }
  ClientSecrets Read(const std::string& address) {
    return ReadClientSecrets(
        address, [&](const std::string& name) { return set_[name]; });
  }

  TempDir dir_;
  std::map<std::string, std::string> set_;
};

TEST_F(ClientSecretsTest, OverTlsAllIsRead) {
  Set("NANWATCH_CA", "authority");
  Set("NANWATCH_CERT", "certificate");
  Set("NANWATCH_KEY", "key");
  Set("NANWATCH_TOKEN_FILE", "secret\r\n");
  const ClientSecrets read = Read("tls://node-7:9766");
  EXPECT_EQ(read.problem, "");
  EXPECT_TRUE(read.tls);
  EXPECT_EQ(read.target, "node-7:9766");
  EXPECT_EQ(read.ca, "authority");
  EXPECT_EQ(read.certificate, "certificate");
  EXPECT_EQ(read.key, "key");
  EXPECT_EQ(read.token, "secret");
}

TEST_F(ClientSecretsTest, ATokenIsNotSentWhereOthersCouldReadIt) {
  Set("NANWATCH_TOKEN_FILE", "secret");
  for (const char* address : {"node-7:9766", "127x.example:1",
                              "localhost.example:1", "unix:/tmp/x"}) {
    EXPECT_EQ(Read(address).token, "") << address;
    EXPECT_EQ(Read(address).target, address);
    EXPECT_FALSE(Read(address).tls);
  }
  for (const char* address : {"127.0.0.1:1", "localhost:1", "[::1]:1"}) {
    EXPECT_EQ(Read(address).token, "secret") << address;
  }
}

TEST_F(ClientSecretsTest, SaysWhatIsWrong) {
  set_["NANWATCH_CA"] = dir_ / "none";
  EXPECT_THAT(Read("tls://h:1").problem, HasSubstr("NANWATCH_CA"));
  set_.clear();
  Set("NANWATCH_CERT", "certificate");
  EXPECT_THAT(Read("tls://h:1").problem, HasSubstr("NANWATCH_KEY"));
  set_.clear();
  for (const char* token : {"", "two words", "two\nlines", "a\x1b", "\xff"}) {
    Set("NANWATCH_TOKEN_FILE", token);
    const ClientSecrets read = Read("tls://h:1");
    EXPECT_THAT(read.problem, HasSubstr("NANWATCH_TOKEN_FILE"));
    EXPECT_EQ(read.token, "");
    EXPECT_EQ(read.problem.find("words"), std::string::npos) << "a secret";
  }
}

}  // namespace
}  // namespace nanwatch
