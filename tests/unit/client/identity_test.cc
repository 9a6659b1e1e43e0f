#include "client_lib/src/identity.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace nanwatch_client {
namespace {

using ::testing::ElementsAre;
using Words = std::map<std::string, std::string>;

struct Case {
  std::string name;
  uid_t user = 0;
  Words environment;
  Words call;
  std::string is;
  std::string in = "- - - -";
};

Words ReadWords(std::istringstream* line) {
  Words words;
  for (std::string word; *line >> word;) {
    const size_t equals = word.find('=');
    words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return words;
}

std::vector<Case> ReadTable(const char* path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (kind == "case") line >> cases.emplace_back().name;
    if (kind == "env") cases.back().environment = ReadWords(&line);
    if (kind == "user") line >> cases.back().user;
    if (kind == "call") cases.back().call = ReadWords(&line);
    if (kind == "in") {
      std::getline(line >> std::ws, cases.back().in);
    }
    if (kind == "is") {
      for (std::string word; line >> word;) {
        cases.back().is += (cases.back().is.empty() ? "" : " ") + word;
      }
    }
  }
  return cases;
}

Environment Environ(const Words& words) {
  return [&words](const char* name) -> const char* {
    const auto at = words.find(name);
    return at == words.end() ? nullptr : at->second.c_str();
  };
}

nanwatch_run_options Options(const Words& call) {
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  const auto number = [&](const char* name, uint32_t bit, int32_t* to) {
    const auto at = call.find(name);
    if (at == call.end()) return;
    *to = std::stoi(at->second);
    options.present |= bit;
  };
  number("attempt", NANWATCH_RUN_ATTEMPT, &options.attempt);
  number("rank", NANWATCH_RUN_RANK, &options.rank);
  number("local_rank", NANWATCH_RUN_LOCAL_RANK, &options.local_rank);
  number("world_size", NANWATCH_RUN_WORLD_SIZE, &options.world_size);
  if (call.contains("run_id")) options.run_id = call.at("run_id").c_str();
  return options;
}

std::string Dash(const std::string& s) { return s.empty() ? "-" : s; }

std::string DescribePlace(const Identity& identity) {
  return Dash(identity.job) + " " + Dash(identity.name_space) + " " +
         Dash(identity.pod) + " " + Dash(identity.node);
}

std::string Describe(const Identity& identity) {
  return Dash(identity.run_id) + " " +
         (identity.attempt ? std::to_string(*identity.attempt) : "-") + " " +
         std::to_string(identity.rank) + " " +
         std::to_string(identity.local_rank) + " " +
         std::to_string(identity.world_size) +
         (identity.run_id_guessed ? " guessed" : "");
}

TEST(IdentityTest, ObeysTheTable) {
  const std::vector<Case> table = ReadTable(IDENTITY_TABLE);
  ASSERT_GE(table.size(), 20u);
  for (const Case& row : table) {
    const Identity found =
        FindIdentity(Options(row.call), Environ(row.environment));
    EXPECT_EQ(Describe(found), row.is) << row.name;
    EXPECT_EQ(DescribePlace(found), row.in) << row.name;
  }
}

TEST(AddressTest, ACallNamesOneDaemon) {
  const Words words = {{"NANWATCH_ADDRESS", "host:1"}};
  EXPECT_THAT(FindAddresses("/tmp/x.sock", Environ(words), 7),
              ElementsAre("unix:/tmp/x.sock"));
}

TEST(AddressTest, ObeysTheTable) {
  const std::vector<Case> table = ReadTable(ADDRESS_TABLE);
  ASSERT_GE(table.size(), 6u);
  for (const Case& row : table) {
    std::string found;
    for (const std::string& address :
         FindAddresses(nullptr, Environ(row.environment), row.user)) {
      found += (found.empty() ? "" : " ") + address;
    }
    EXPECT_EQ(found, row.is) << row.name;
  }
}

}  // namespace
}  // namespace nanwatch_client
