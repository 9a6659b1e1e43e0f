#include "config/quantity.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Quantity, ReadsTimes) {
  EXPECT_EQ(ParseDuration("30s"), Duration(seconds(30)));
  EXPECT_EQ(ParseDuration("15m"), Duration(seconds(900)));
  EXPECT_EQ(ParseDuration("1h30m"), Duration(seconds(5400)));
  EXPECT_EQ(ParseDuration("20ms"), Duration(milliseconds(20)));
  EXPECT_EQ(ParseDuration("0s"), Duration(0));
}

TEST(Quantity, RefusesWhatIsNoTime) {
  for (const char* text : {"", "30", "s", "-1s", "1.5h", "1 s", "1w", "1s ",
                           "99999999999999999999s", "40000d", "1S"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(Quantity, ReadsSizes) {
  EXPECT_EQ(ParseSize("64MiB"), 64u << 20);
  EXPECT_EQ(ParseSize("1kB"), 1000u);
  EXPECT_EQ(ParseSize("512B"), 512u);
  for (const char* text :
       {"", "64", "64mb", "-1B", "1MiB1MiB", "9999999999TiB"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

TEST(Quantity, ReadsNumbers) {
  EXPECT_EQ(ParseNumber("1e3"), 1000);
  EXPECT_EQ(ParseNumber("-0.5"), -0.5);
  for (const char* text : {"", "nan", "inf", "1,5", "0x10", "1 "}) {
    EXPECT_EQ(ParseNumber(text), std::nullopt) << text;
  }
}

TEST(Quantity, WhatIsShownReadsBackTheSame) {
  for (const int64_t us : {0l, 1l, 1500l, 30000000l, 5400000000l}) {
    EXPECT_EQ(ParseDuration(ShowDuration(Duration(us))), Duration(us));
  }
  for (const uint64_t bytes : {0ull, 1ull, 1536ull, 64ull << 20, 1000ull}) {
    EXPECT_EQ(ParseSize(ShowSize(bytes)), bytes);
  }
  EXPECT_EQ(ShowDuration(hours(1) + seconds(5)), "1h5s");
}

}  // namespace
}  // namespace nanwatch
