// What a generated run hands out, as a training would: plain values, nothing of
// the daemon. The judge beside this folder turns them into its events.

#ifndef NANWATCH_TESTS_GENERATE_RECORD_H_
#define NANWATCH_TESTS_GENERATE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanwatch::generate {

// One update of one rank. Absent: the program does not report it.
struct Update {
  int rank = 0;
  int optimizer = 0;  // index into Setup::optimizers
  int64_t step = 0;
  std::optional<double> loss;
  std::optional<double> scale;      // that the update used
  std::optional<double> grad_norm;  // unscaled, before clipping
  std::optional<double> update_norm;
  std::optional<double> param_norm;
  std::optional<double> learning_rate;
  std::optional<double> underflow_fraction;  // of gradient elements
  std::optional<bool> overflow;
  std::optional<bool> skipped;
  std::optional<uint64_t> digest;  // of the replica
};

enum class Tensor { kInput, kOutput, kGradOutput, kCollective };

// What rank 0 counted of one tensor of one op before that update.
struct Status {
  int op = 0;  // index into Setup::ops
  Tensor tensor = Tensor::kOutput;
  uint64_t elements = 1000;
  uint64_t nan = 0;
  uint64_t inf = 0;
  uint64_t saturated = 0;
  bool device_flag = false;
  float abs_max = 1;
  std::optional<float> log2_mean;  // of |x|
  std::optional<float> log2_std;
  std::optional<float> fp8_amax;
  std::optional<float> fp8_scale_inv;
};

struct Op {
  std::string name;
  std::string type;
  bool fp8 = false;
  int64_t elements = 1000;  // logical
  int64_t stored = 0;       // padding included; 0: the same
};

enum class Scaling { kUnknown, kNone, kStatic, kDynamic };

struct Setup {
  std::string kind;  // for tables
  int ranks = 1;
  Scaling scaling = Scaling::kUnknown;
  std::string scaler;  // a public name; empty: not declared
  std::optional<double> init_scale;
  std::optional<int64_t> growth_interval;
  std::optional<int64_t> hysteresis;
  std::optional<bool> overflow_check;
  std::string precision;
  std::string framework;
  bool saturation = false;  // the device hides infinities
  std::vector<Op> ops;
  std::vector<std::string> optimizers;  // empty: one without a name
};

// All that happens at one moment.
struct Moment {
  double seconds = 0;    // since the moment before
  bool restart = false;  // first every rank ends well and opens again
  std::vector<Status> statuses;
  std::vector<Update> updates;
};

struct Story {
  Setup setup;
  std::vector<Moment> moments;
  size_t onset = 0;       // moment at which the trouble begins
  size_t look_at = 0;     // moment after which the diagnosis is read
  std::string cause;      // what it is, by name; empty: a healthy run
  double effect = 0;      // times the healthy 99.9 % quantile
  bool harmless = false;  // to be named, and nobody to be woken
};

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_RECORD_H_
