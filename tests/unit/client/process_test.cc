// What fork and exit do to an open session.

#include <gmock/gmock.h>
#include <stdio.h>
#include <sys/wait.h>

#include <chrono>
#include <string>

#include "tests/unit/client/sink.h"

namespace nanwatch_client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Outcome {
  int status = -1;
  std::string output;
};

Outcome Probe(const std::string& mode, const std::string& address) {
  const std::string command =
      "timeout 60 " PROBE " " + mode + " " + address + " 2>&1";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c = 0; (c = fgetc(pipe)) != EOF;) {
    outcome.output += static_cast<char>(c);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() { sink_.Start(); }
  TempDir dir_;
  Sink sink_{dir_.Path("ingest.sock")};
};

TEST_F(ProcessTest, AForkedChildIsSilentAndItsParentGoesOn) {
  const Outcome outcome = Probe("fork", sink_.address());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, IsEmpty());
  EXPECT_THAT(sink_.Steps(), ElementsAre(0, 1));
  EXPECT_THAT(sink_.Opens(), SizeIs(1));
}

TEST_F(ProcessTest, AForkedChildMayExit) {
  const Outcome outcome = Probe("fork-exit", sink_.address());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, IsEmpty());
  EXPECT_THAT(sink_.Steps(), ElementsAre(0, 1));
}

TEST_F(ProcessTest, AForkBeforeTheFirstSessionCostsNothing) {
  const Outcome outcome = Probe("fork-first", sink_.address());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(sink_.Steps(), ElementsAre(0));
}

TEST_F(ProcessTest, AnExitWithoutCloseSendsWhatThereIs) {
  const Outcome outcome = Probe("exit", sink_.address());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, IsEmpty());
  EXPECT_THAT(sink_.Steps(), ElementsAre(7));
  EXPECT_FALSE(sink_.taken().back().has_close());
}

TEST_F(ProcessTest, WithoutADaemonExitIsQuickAndQuiet) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = Probe("exit", dir_.Path("nobody.sock"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

}  // namespace
}  // namespace nanwatch_client
