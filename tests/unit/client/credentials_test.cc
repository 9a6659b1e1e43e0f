#include "client_lib/src/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace nanwatch_client {
namespace {

using testing::HasSubstr;

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    char name[] = "/tmp/nanwatch-credentials-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  // Why not; empty: read_ has them.
  std::string Read(const std::string& address) {
    read_ = {};
    return ReadCredentials(address, files_, &read_);
  }

  std::string folder_;
  CredentialFiles files_;
  Credentials read_;
};

TEST_F(CredentialsTest, TheEnvironmentNamesTheFiles) {
  const std::map<std::string, const char*> set = {
      {"NANWATCH_CA", "/a"}, {"NANWATCH_CERT", "/c"}, {"NANWATCH_KEY", "/k"}};
  const CredentialFiles files =
      FindCredentialFiles([&](const char* name) -> const char* {
        const auto found = set.find(name);
        return found == set.end() ? nullptr : found->second;
      });
  EXPECT_EQ(files.ca, "/a");
  EXPECT_EQ(files.certificate, "/c");
  EXPECT_EQ(files.key, "/k");
  EXPECT_EQ(files.token, "");
}

TEST_F(CredentialsTest, OverTlsAllIsRead) {
  files_ = {File("a", "authority"), File("c", "certificate"), File("k", "key"),
            File("t", "secret-token\r\n")};
  ASSERT_EQ(Read("tls://node-7:9766"), "");
  EXPECT_TRUE(read_.tls);
  EXPECT_EQ(read_.target, "node-7:9766");
  EXPECT_EQ(read_.ca, "authority");
  EXPECT_EQ(read_.certificate, "certificate");
  EXPECT_EQ(read_.key, "key");
  EXPECT_EQ(read_.token, "secret-token");
}

TEST_F(CredentialsTest, ATokenIsNotSentWhereOthersCouldReadIt) {
  files_.token = File("t", "secret");
  for (const char* address :
       {"node-7:9766", "10.0.0.1:1", "127x.example:1", "localhost.example:1",
        "unix:/tmp/x", "dns:///127.0.0.1.example:1"}) {
    ASSERT_EQ(Read(address), "") << address;
    EXPECT_FALSE(read_.tls);
    EXPECT_EQ(read_.target, address);
    EXPECT_EQ(read_.token, "") << address;
  }
  for (const char* address : {"127.0.0.1:1", "localhost:1", "[::1]:1"}) {
    ASSERT_EQ(Read(address), "") << address;
    EXPECT_EQ(read_.token, "secret") << address;
  }
}

TEST_F(CredentialsTest, SaysWhatIsWrong) {
  files_.ca = folder_ + "/none";
  EXPECT_THAT(Read("tls://h:1"), HasSubstr("NANWATCH_CA"));
  mkfifo((folder_ + "/pipe").c_str(), 0600);
  files_.ca = folder_ + "/pipe";
  EXPECT_THAT(Read("tls://h:1"), HasSubstr("NANWATCH_CA"));
  files_ = {"", File("c", "certificate"), "", ""};
  EXPECT_THAT(Read("tls://h:1"), HasSubstr("NANWATCH_KEY"));
  for (const std::string& token :
       {std::string(), std::string("\n"), std::string("two words"),
        std::string("two\nlines"), std::string("a\x1b"),
        std::string(5000, 'a')}) {
    files_ = {"", "", "", File("t", token)};
    const std::string why = Read("tls://h:1");
    EXPECT_THAT(why, HasSubstr("NANWATCH_TOKEN_FILE"));
    EXPECT_EQ(why.find("words"), std::string::npos) << "a secret";
    EXPECT_EQ(read_.token, "");
  }
}

}  // namespace
}  // namespace nanwatch_client
