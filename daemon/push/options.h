// Which stores of metrics get each step.

#ifndef NANWATCH_PUSH_OPTIONS_H_
#define NANWATCH_PUSH_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace nanwatch {

struct RemoteWriteOptions {
  std::string url;  // http:// or https://; empty: none
  // Files, read again for each request; empty: none.
  std::string token_file;
  std::string ca;  // empty: the system's authorities
  std::string cert;
  std::string key;
};

// A collector that speaks OTLP over gRPC. As RelayOptions has them.
struct OtlpOptions {
  std::string address;  // empty: none
  std::string ca;
  std::string cert;
  std::string key;
  std::string token_file;
};

struct PushOptions {
  RemoteWriteOptions remote_write;
  OtlpOptions otlp;
  // On every series.
  std::map<std::string, std::string> labels;
  // Ranks with numbers below it have series. As many as have series of their
  // own in /metrics (limits::kRankSeries).
  int64_t ranks = 64;
  // Older samples are given up: an outage of 2 h, and the time to catch up.
  // Ours.
  Duration max_age = std::chrono::hours(3);
};

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_OPTIONS_H_
