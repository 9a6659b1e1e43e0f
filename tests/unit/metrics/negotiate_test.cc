#include "metrics/negotiate.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

struct Case {
  std::string_view accept;
  MetricsFormat format;
};

class NegotiateTable : public ::testing::TestWithParam<Case> {};

TEST_P(NegotiateTable, PicksTheFormat) {
  EXPECT_EQ(NegotiateFormat(GetParam().accept), GetParam().format);
}

constexpr MetricsFormat kText = MetricsFormat::kText004;
constexpr MetricsFormat kOpen = MetricsFormat::kOpenMetrics100;
INSTANTIATE_TEST_SUITE_P(
    Accept, NegotiateTable,
    ::testing::Values(
        Case{"", kText}, Case{"*/*", kText}, Case{"text/html", kText},
        // Prometheus 2.42.
        Case{"application/openmetrics-text;version=1.0.0,"
             "application/openmetrics-text;version=0.0.1;q=0.75,"
             "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
             kOpen},
        Case{"application/openmetrics-text; version=0.0.1", kText},
        Case{"application/openmetrics-text;q=0.3,text/plain;q=0.4", kText},
        Case{"application/openmetrics-text;q=0", kText},
        Case{"APPLICATION/OpenMetrics-Text ; Q=1", kOpen},
        Case{"application/openmetrics-text;q=banana", kText},
        Case{",,;;=,q=", kText}));

TEST(Gzip, OnlyWhenAskedFor) {
  EXPECT_TRUE(AcceptsGzip("gzip"));
  EXPECT_TRUE(AcceptsGzip("br, GZIP;q=0.5"));
  EXPECT_FALSE(AcceptsGzip(""));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0, identity"));
  EXPECT_FALSE(AcceptsGzip("br"));
}

}  // namespace
}  // namespace nanwatch
