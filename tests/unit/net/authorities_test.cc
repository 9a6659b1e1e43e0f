#include "net/authorities.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <fstream>

namespace nanwatch {
namespace {

class AuthoritiesTest : public testing::Test {
 protected:
  void SetUp() override { unsetenv("SSL_CERT_FILE"); }
  void TearDown() override { unsetenv("SSL_CERT_FILE"); }
};

TEST_F(AuthoritiesTest, AreTheFirstThatAreThere) {
  const std::string there = testing::TempDir() + "authorities.pem";
  std::ofstream(there) << "a certificate";
  const std::array usual = {"/nowhere/first.pem", there.c_str(), "/dev/null"};
  EXPECT_EQ(AuthoritiesFile(usual), there);
}

TEST_F(AuthoritiesTest, AreNoneWhereNoneAreThere) {
  const std::array usual = {"/nowhere/first.pem"};
  EXPECT_EQ(AuthoritiesFile(usual), "");
}

TEST_F(AuthoritiesTest, OfTheEnvironmentComeFirst) {
  setenv("SSL_CERT_FILE", "/mine.pem", 1);
  EXPECT_EQ(AuthoritiesFile(UsualAuthorities()), "/mine.pem");
}

}  // namespace
}  // namespace nanwatch
