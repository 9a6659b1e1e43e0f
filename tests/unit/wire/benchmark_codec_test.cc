// A benchmark as history keeps it.

#include "wire/benchmark_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "model/event.h"
#include "wire/event_codec.h"

namespace nanwatch {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::shared_ptr<const Benchmark> Base() {
  return std::make_shared<const Benchmark>(Benchmark{
      "base@2", {{3, 2.5}, {4, NAN}, {900, -kInf}, {1000000, -0.0}}, true});
}

void ExpectBase(const std::shared_ptr<const Benchmark>& read) {
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->reference, "base@2");
  EXPECT_TRUE(read->earlier_attempt);
  ASSERT_EQ(read->points.size(), 4u);
  EXPECT_EQ(read->points[0].step, 3);
  EXPECT_EQ(read->points[0].loss, 2.5);
  EXPECT_TRUE(std::isnan(read->points[1].loss));
  EXPECT_EQ(read->points[2].step, 900);
  EXPECT_EQ(read->points[2].loss, -kInf);
  EXPECT_EQ(read->points[3].step, 1000000);
  EXPECT_TRUE(std::signbit(read->points[3].loss));
}

Result<Event> RoundTrip(EventBody body) {
  Event event;
  event.run = {"run", 1};
  event.body = std::move(body);
  std::string bytes;
  EncodeEvent(event, &bytes);
  return DecodeEvent(bytes);
}

TEST(BenchmarkCodec, KeepsAllOfIt) {
  const auto back = RoundTrip(BenchmarkSet{Base(), "ann"});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(std::get<BenchmarkSet>(back->body).by, "ann");
  ExpectBase(std::get<BenchmarkSet>(back->body).benchmark);
  RunOpened opened;
  opened.benchmark = Base();
  const auto next = RoundTrip(opened);
  ASSERT_TRUE(next.ok());
  ExpectBase(std::get<RunOpened>(next->body).benchmark);
}

TEST(BenchmarkCodec, NoneStaysNone) {
  const auto back = RoundTrip(BenchmarkSet{});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(std::get<BenchmarkSet>(back->body).benchmark, nullptr);
  const auto opened = RoundTrip(RunOpened{});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(std::get<RunOpened>(opened->body).benchmark, nullptr);
}

TEST(BenchmarkCodec, WhatCannotBeIsRefused) {
  std::shared_ptr<const Benchmark> to;
  v1::StoredBenchmark from;
  WriteBenchmark(*Base(), &from);
  EXPECT_FALSE(ReadBenchmark(from, &to));
  v1::StoredBenchmark twice = from;
  twice.set_step_deltas(1, 0);
  EXPECT_TRUE(ReadBenchmark(twice, &to)) << "a step stands there twice";
  v1::StoredBenchmark shorter = from;
  shorter.mutable_step_deltas()->RemoveLast();
  EXPECT_TRUE(ReadBenchmark(shorter, &to)) << "a loss has no step";
  v1::StoredBenchmark far = from;
  far.set_step_deltas(3, UINT64_MAX);
  EXPECT_TRUE(ReadBenchmark(far, &to)) << "a step that no number holds";
  v1::StoredBenchmark nameless = from;
  nameless.clear_reference();
  EXPECT_TRUE(ReadBenchmark(nameless, &to));
}

}  // namespace
}  // namespace nanwatch
