// DumpCollector: what readers of dumps find, gathered into the run that two are
// compared by.

#ifndef NANWATCH_DUMPS_DUMP_COLLECTOR_H_
#define NANWATCH_DUMPS_DUMP_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "compare/compared_run.h"
#include "model/op.h"

namespace nanwatch {

// 300 bytes each: 300 MB. A step of a large model has some 10,000. Beyond: the
// dump is refused.
inline constexpr size_t kDumpTensors = 1 << 20;

struct DumpedTensor {
  OpName op;
  ComparedTensor tensor;  // without op and place
};

// Takes from the statistics whether there are NaN and infinite elements. How
// many they do not say.
void CountSpecials(ComparedTensor* tensor);

class DumpCollector {
 public:
  // Takes the tensors of a step in the order in which they were made.
  Status Take(DumpedTensor dumped);
  // One that the dump names and has no numbers of.
  void CountEmpty() { ++run_.empty; }
  void CountUnread() { ++run_.unread; }
  // The dump holds what a device's check wrote.
  void SetDeviceChecked() { run_.device_checked = true; }
  void Take(DeviceOverflow overflow) {
    run_.overflows.push_back(std::move(overflow));
  }
  // Its numbers are a log's.
  void SetPrinted() { run_.printed = true; }
  // Nobody knows which tensor was made first.
  void SetUnordered() { run_.ordered = false; }
  bool IsEmpty() const {
    return run_.tensors.empty() && run_.overflows.empty();
  }
  // Call once, last.
  ComparedRun Finish();

 private:
  ComparedRun run_;
  std::map<std::string, uint32_t> known_;  // by all that an op's name says
};

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_DUMP_COLLECTOR_H_
