// Lines that come again and again are read as any other.

#include "logs/usual_line.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "logs/recogniser.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

// What is told of `lines`, where they may be usual ones.
std::vector<std::string> Told(const std::vector<std::string>& lines) {
  std::vector<std::string> told;
  Recogniser recogniser(nullptr, {}, [&told](const LogFact& fact, uint64_t) {
    told.push_back(FactText(fact));
  });
  for (const std::string& line : lines) recogniser.ReadLine(line);
  recogniser.Finish();
  return told;
}

// The same where each is read alone, as a format does that knows none.
std::vector<std::string> Read(const char* format,
                              const std::vector<std::string>& lines) {
  std::vector<std::string> told;
  const auto reader = FindLogFormat(format)->make({});
  for (const std::string& line : lines) {
    FactList facts;
    reader->Read(line, &facts);
    for (const LogFact& fact : facts) told.push_back(FactText(fact));
  }
  return told;
}

std::string Megatron(int step, const char* loss, const char* rate) {
  char line[400];
  std::snprintf(
      line, sizeof line,
      " iteration %8d/     500 | consumed samples: %12d | elapsed time per "
      "iteration (ms): %d.5 | learning rate: %s | lm loss: %s | loss scale: "
      "%d.0 | grad norm: %d.125 | number of skipped iterations: %3d | number "
      "of nan iterations:   0 |",
      step, 160 * step, 900 + step % 7, rate, loss, 1 << step % 17, step % 5,
      step % 3);
  return line;
}

TEST(UsualLine, MegatronsAreReadAsOthers) {
  constexpr const char* kLosses[] = {"9.975250E+00", "1.2E-01", "3",   "nan",
                                     "-2.5",         "4.5.6",   "inf", "+1.5"};
  constexpr const char* kRates[] = {"1.500E-04", "0.0", "6.0E-5"};
  std::vector<std::string> lines;
  for (int step = 1; step < 400; ++step) {
    const char* const loss = step % 11 == 0 ? kLosses[step / 11 % 8] : "2.5";
    lines.push_back(Megatron(step, loss, kRates[step % 3]));
    if (step % 13 == 0) lines.push_back("saved checkpoint 12 in 3.5 s");
  }
  EXPECT_EQ(Told(lines), Read("megatron", lines));
}

TEST(UsualLine, WhatIsGluedToOneIsReadToo) {
  std::vector<std::string> lines;
  for (int step = 1; step < 40; ++step) {
    lines.push_back(Megatron(step, "2.5", "0.1"));
  }
  lines.push_back(lines.back() +
                  "[deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss "
                  "scale: 65536, reducing to 32768");
  const std::vector<std::string> told = Told(lines);
  ASSERT_EQ(told.size(), 41u);
  EXPECT_TRUE(told[40].starts_with("overflow")) << told[40];
}

// Whoever remembers lines sees each of them.
TEST(UsualLine, AnEvaluationInStepLinesIsFollowed) {
  std::vector<std::string> lines;
  for (int step = 1; step <= 600; ++step) {
    lines.push_back("step=" + std::to_string(step) + " loss=2.5 val_loss=" +
                    (step == 500 ? "nan" : "2." + std::to_string(step)));
  }
  std::vector<int64_t> evaluated;
  Recogniser recogniser(nullptr, {},
                        [&evaluated](const LogFact& fact, uint64_t line) {
                          if (fact.kind == LogFact::Kind::kEvaluated) {
                            evaluated.push_back(static_cast<int64_t>(line));
                          }
                        });
  for (const std::string& line : lines) recogniser.ReadLine(line);
  recogniser.Finish();
  EXPECT_EQ(evaluated, (std::vector<int64_t>{500, 501}));
}

// A term of the loss that is never a number.
TEST(UsualLine, ATermThatIsNotFiniteIsNamedEachTime) {
  std::vector<std::string> terms;
  Recogniser recogniser(nullptr, {}, [&terms](const LogFact& fact, uint64_t) {
    terms.emplace_back(fact.text);
  });
  for (int step = 1; step <= 600; ++step) {
    recogniser.ReadLine("step=" + std::to_string(step) +
                        " loss=2.5 kl_loss=nan lr=0.1");
  }
  recogniser.Finish();
  EXPECT_EQ(terms, std::vector<std::string>(600, "kl_loss"));
}

}  // namespace
}  // namespace nanwatch
