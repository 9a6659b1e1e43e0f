#include "web/gate.h"

#include <crypt.h>
#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "web/bcrypt.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;

// Of the lowest cost, as `htpasswd -nbBC 4` makes them.
std::string HashOf(const std::string& password) {
  crypt_data data{};
  return crypt_r(password.c_str(), "$2y$04$abcdefghijklmnopqrstuu", &data);
}

// base64 of "ann:right", and of others.
constexpr char kAnnRight[] = "Basic YW5uOnJpZ2h0";
constexpr char kAnnWrong[] = "Basic YW5uOndyb25n";
constexpr char kBobRight[] = "Basic Ym9iOnJpZ2h0";

class GateTest : public ::testing::Test {
 protected:
  GateTest() {
    protection_.users["ann"] = HashOf("right");
    request_.remote = "10.1.2.3";
  }
  int Check(const std::string& authorization) {
    request_.authorization = authorization;
    request_.caller.reset();
    const auto refused = gate_.Check(protection_, &request_);
    EXPECT_NE(refused.has_value(), request_.caller.has_value());
    said_ = refused ? refused->body : "";
    return refused ? refused->status : 200;
  }

  WebProtection protection_;
  Gate gate_{[](const std::string& name) -> Result<Caller> {
    if (name == "eve") return Error{"eve is not among access.users"};
    return Caller{name, name, name == "chief"};
  }};
  HttpRequest request_;
  std::string said_;
};

TEST_F(GateTest, APasswordSaysWhoItIs) {
  EXPECT_EQ(Check(kAnnRight), 200);
  EXPECT_EQ(request_.caller->name, "ann");
  EXPECT_EQ(Check("basic YW5uOnJpZ2h0"), 200);
  EXPECT_EQ(Check(kAnnWrong), 401);
  EXPECT_EQ(Check(kBobRight), 401);
  EXPECT_EQ(Check(""), 401);
  // What was right stays right beside what was wrong, and the other way round.
  EXPECT_EQ(Check(kAnnRight), 200);
  EXPECT_EQ(Check(kAnnWrong), 401);
}

TEST_F(GateTest, WhatIsNoPasswordIsRefused) {
  for (const char* said : {"Basic", "Basic ", "Basic YW5u", "Basic YW5uOnJpZ2h",
                           "Basic ====", "Basic Y===", "Bearer YW5uOnJpZ2h0",
                           "Basic !!!!", "Basic YW5uOnJpZ2h0 x"}) {
    EXPECT_EQ(Check(said), 401) << said;
    EXPECT_THAT(said_, HasSubstr("base64"));
  }
  EXPECT_EQ(Check("Basic " + std::string(4000, 'A')), 401);
}

TEST_F(GateTest, AChangedPasswordIsAskedForAtOnce) {
  EXPECT_EQ(Check(kAnnRight), 200);
  protection_.users["ann"] = HashOf("wrong");
  EXPECT_EQ(Check(kAnnRight), 401);
  EXPECT_EQ(Check(kAnnWrong), 200);
}

TEST_F(GateTest, WhoIsNotAmongAccessUsersStaysOut) {
  protection_.users["eve"] = HashOf("right");
  EXPECT_EQ(Check("Basic ZXZlOnJpZ2h0"), 403);
  EXPECT_THAT(said_, HasSubstr("access.users"));
}

TEST_F(GateTest, ACertificateSaysWhoItIsWhereNoPasswordIsAsked) {
  request_.certificate_name = "chief";
  EXPECT_EQ(Check(""), 401);
  protection_.users.clear();
  EXPECT_EQ(Check(""), 200);
  EXPECT_TRUE(request_.caller->admin);
  for (const char* wrong : {"", "uid 0", "*.lab", "a\nb", "ann\x9b[31m"}) {
    request_.certificate_name = wrong;
    EXPECT_EQ(Check(""), 403) << wrong;
  }
  request_.certificate_name.reset();
  EXPECT_FALSE(gate_.Check(protection_, &request_)) << "nobody is asked";
}

TEST(Bcrypt, APasswordIsAllOfIt) {
  const std::string hash = HashOf("right");
  EXPECT_EQ(BcryptCost(hash), 4);
  EXPECT_TRUE(MatchesBcrypt("right", hash));
  EXPECT_FALSE(MatchesBcrypt("righ", hash));
  EXPECT_FALSE(MatchesBcrypt("right ", hash));
  EXPECT_FALSE(MatchesBcrypt(std::string("right\0x", 7), hash));
  EXPECT_FALSE(MatchesBcrypt("", hash));
  for (const char* wrong :
       {"", "right", "$2y$04$", "$1$abc$def", "$6$abc$def",
        "$2x$04$abcdefghijklmnopqrstuuqNWSJ6yBrbNn5hCT7zPdhX2FGzXiH9m"}) {
    EXPECT_EQ(BcryptCost(wrong), 0) << wrong;
  }
}

// Hosts that press wait for each other, not the others for them.
TEST(Passwords, ManyFromOneHostAreBusyAndOthersAreNot) {
  Passwords passwords;
  crypt_data data{};
  // A tenth of a second each.
  const std::map<std::string, std::string> users = {
      {"ann", crypt_r("right", "$2y$10$abcdefghijklmnopqrstuu", &data)}};
  std::vector<std::thread> pressing;
  std::atomic<int> busy = 0;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 40; ++i) {
    pressing.emplace_back([&, i] {
      const auto answer =
          passwords.Check(users, {"ann", std::to_string(i), "10.0.0.1"},
                          In(std::chrono::hours(1)));
      ++(answer == LoginAnswer::kBusy ? busy : wrong);
    });
  }
  EXPECT_EQ(passwords.Check(users, {"ann", "right", "10.0.0.2"},
                            In(std::chrono::hours(1))),
            LoginAnswer::kRight);
  for (std::thread& one : pressing) one.join();
  EXPECT_EQ(busy + wrong, 40);
  EXPECT_GE(wrong, 16);
  EXPECT_GE(busy, 1);
  EXPECT_EQ(passwords.Check(users, {"ann", "late", "10.0.0.2"}, Deadline()),
            LoginAnswer::kWrong)
      << "a free place is no wait";
}

}  // namespace
}  // namespace nanwatch
