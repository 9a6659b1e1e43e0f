// What a record costs on the wire.

#include <gmock/gmock.h>

#include <nanwatch.hpp>
#include <random>
#include <vector>

#include "client_lib/src/envelope.h"
#include "client_lib/src/op_batch.h"
#include "client_lib/src/step_batch.h"

namespace nanwatch_client {
namespace {

constexpr uint64_t kSession = 0xFEDCBA9876543210u;
constexpr uint64_t kSequence = 1'000'000;
constexpr int64_t kStart = 1'780'000'000'000'000;
constexpr int kOps = 250;
constexpr uint64_t kElements = 4096 * 4096;

TEST(SizeTest, AStepIsAtMost40Bytes) {
  std::mt19937_64 random(1);
  std::vector<nanwatch::Step> steps;
  for (int i = 0; i < 100; ++i) {
    steps.push_back(nanwatch::Step(1'000'000 + i));
    steps.back()
        .Loss(static_cast<double>(random() % 1000) / 7)
        .LossScale(65536)
        .Overflow(i % 10 == 0)
        .Skipped(i % 10 == 0)
        .GradNorm(static_cast<double>(random() % 1000) / 3)
        .LearningRate(1e-4 / (i + 1));
    // Steps of half a second, never quite equal.
    steps.back().time_us = kStart + i * 500'000ll + random() % 20'000;
  }
  std::vector<const nanwatch_step*> rows;
  for (const auto& step : steps) rows.push_back(&step);
  const std::string message =
      Envelope(nanwatch::v1::IngestRequest::kSteps, kSession, kSequence,
               EncodeSteps(rows, {}, kStart).SerializeAsString());
  EXPECT_LE(message.size(), 40u * 100);
}

size_t BytesOfOps(std::vector<nanwatch::OpStatus>* statuses) {
  std::vector<const nanwatch_op_status*> rows;
  for (auto& status : *statuses) {
    status.time_us = kStart + status.step * 500'000;
    rows.push_back(&status);
  }
  const std::vector<uint64_t> shapes(kOps, kElements);
  return Envelope(nanwatch::v1::IngestRequest::kOps, kSession, kSequence,
                  EncodeOps(rows, shapes, kStart).SerializeAsString())
      .size();
}

// Healthy outputs: zeros (ReLU, padding) in half of them, subnormals in some.
std::vector<nanwatch::OpStatus> HealthyOps() {
  std::vector<nanwatch::OpStatus> statuses;
  for (int i = 0; i < 1000; ++i) {
    nanwatch::OpStatus status(i / kOps, i % kOps, NANWATCH_SLOT_OUTPUT);
    status.elements = kElements;
    status.zero = i % 2 == 0 ? 1'000'000 + i : 0;
    status.subnormal = i % 4 == 0 ? 300 + i : 0;
    status.abs_max = 1.5f + static_cast<float>(i);
    status.present = NANWATCH_OP_ELEMENTS | NANWATCH_OP_NAN |
                     NANWATCH_OP_POS_INF | NANWATCH_OP_NEG_INF |
                     NANWATCH_OP_SATURATED | NANWATCH_OP_ZERO |
                     NANWATCH_OP_SUBNORMAL | NANWATCH_OP_ABS_MAX;
    statuses.push_back(status);
  }
  return statuses;
}

TEST(SizeTest, AHealthyOpIsAtMost16Bytes) {
  std::vector<nanwatch::OpStatus> statuses = HealthyOps();
  EXPECT_LE(BytesOfOps(&statuses), 16u * 1000);
}

TEST(SizeTest, AnOpWithAllStatisticsIsAtMost56Bytes) {
  std::vector<nanwatch::OpStatus> statuses = HealthyOps();
  for (auto& status : statuses) {
    status.present |= NANWATCH_OP_MIN | NANWATCH_OP_MAX | NANWATCH_OP_MEAN |
                      NANWATCH_OP_RMS | NANWATCH_OP_LOG2_MEAN |
                      NANWATCH_OP_LOG2_STD | NANWATCH_OP_FP8_AMAX |
                      NANWATCH_OP_FP8_SCALE_INV | NANWATCH_OP_DEVICE_FLAG |
                      NANWATCH_OP_DIGEST;
    status.min = status.max = status.mean = status.rms = 0.1f;
    status.digest = kSession;
    status.slot =
        status.op % 2 == 0 ? NANWATCH_SLOT_INPUT : NANWATCH_SLOT_OUTPUT;
  }
  EXPECT_LE(BytesOfOps(&statuses), 56u * 1000);
}

}  // namespace
}  // namespace nanwatch_client
