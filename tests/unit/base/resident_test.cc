#include "base/resident.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

namespace nanwatch {
namespace {

// Kilobytes of mapped files that are resident.
long ResidentFiles() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long size = -1;
  while (status >> word) {
    if (word == "RssFile:") status >> size;
  }
  return size;
}

// Written by the loader: a pointer needs a relocation.
const char* const kRelocated[] = {"one", "two"};
int written = 1;

TEST(Resident, ForgetsCodeAndKeepsWhatWasWritten) {
  written = 2;
  const long before = ResidentFiles();
  ForgetStartupCode();
  const long after = ResidentFiles();
  EXPECT_LT(after, before / 2);
  EXPECT_EQ(written, 2);
  EXPECT_EQ(std::string(kRelocated[1]), "two");
  ForgetStartupCode();  // again does no harm
  EXPECT_GT(ResidentFiles(), 0);
}

}  // namespace
}  // namespace nanwatch
