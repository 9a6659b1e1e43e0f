#include "push/write_request.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>

namespace nanwatch {
namespace {

Moment At(int64_t ms, double loss, const std::shared_ptr<Lane>& lane) {
  Moment moment;
  moment.lane = lane;
  moment.ms = ms;
  moment.fields = 1u << static_cast<int>(StepField::kLoss);
  moment.value[static_cast<int>(StepField::kLoss)] = loss;
  return moment;
}

TEST(WriteRequestTest, LabelsAreSortedAndNoneIsEmpty) {
  auto lane = std::make_shared<Lane>();
  lane->key = {{"job", 2}, 3, ""};
  const Moment moments[] = {At(5, 0.1, lane), At(6, 0.2, lane)};
  const auto request =
      WriteRequestOf(moments, {{"zone", "z"}, {"Cluster", "c"}});
  ASSERT_EQ(request.timeseries_size(), 1);
  std::string said;
  for (const auto& label : request.timeseries(0).labels()) {
    said += label.name() + "=" + label.value() + " ";
  }
  EXPECT_EQ(said,
            "Cluster=c __name__=nanwatch_step_loss attempt=2 rank=3 "
            "run_id=job zone=z ");
  ASSERT_EQ(request.timeseries(0).samples_size(), 2);
  EXPECT_EQ(request.timeseries(0).samples(1).timestamp(), 6);
  EXPECT_EQ(request.timeseries(0).samples(1).value(), 0.2);
}

TEST(WriteRequestTest, NoNanIsAnEnd) {
  auto lane = std::make_shared<Lane>();
  Moment end = At(6, 0, lane);
  end.ends = true;
  // A loss that has the bits of the marker.
  const Moment moments[] = {At(5, StaleMarker(), lane), end};
  const auto request = WriteRequestOf(moments, {});
  const auto bits = [&](int i) {
    return std::bit_cast<uint64_t>(request.timeseries(0).samples(i).value());
  };
  EXPECT_TRUE(std::isnan(request.timeseries(0).samples(0).value()));
  EXPECT_NE(bits(0), bits(1));
  EXPECT_EQ(bits(1), 0x7ff0000000000002);
}

}  // namespace
}  // namespace nanwatch
