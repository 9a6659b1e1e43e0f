#include "compare/usual_overflow.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare/overflow_diff.h"
#include "compare/tensor_pair.h"
#include "compare/tensor_steps.h"

namespace nanwatch {
namespace {

bool IsBad(const ComparedTensor& tensor) { return SpecialsOf(tensor) > 0; }

}  // namespace

UsualOverflows LeaveOutUsual(const ComparedRun& benchmark, ComparedRun* run) {
  UsualOverflows usual;
  std::vector<ComparedTensor> kept;
  std::map<TensorName, bool> bad;  // of the benchmark's tensors of a step
  for (size_t i = 0; i < run->tensors.size();) {
    const int64_t step = run->tensors[i].step;
    const auto of_benchmark = TensorsOf(benchmark, step);
    std::vector<TensorName> names = NamesOf(benchmark, of_benchmark);
    bad.clear();
    for (size_t k = 0; k < names.size(); ++k) {
      bad.try_emplace(std::move(names[k]), IsBad(of_benchmark[k]));
    }
    for (const TensorName& name : NamesOf(*run, TensorsOf(*run, step))) {
      const ComparedTensor& tensor = run->tensors[i++];
      const auto beside = bad.find(name);
      if (IsBad(tensor) && beside != bad.end() && beside->second) {
        ++usual.tensors;
        continue;
      }
      usual.unmatched += IsBad(tensor) && beside == bad.end() ? 1 : 0;
      kept.push_back(tensor);
    }
  }
  // Several units of a device may find one op's overflow.
  std::set<std::pair<int64_t, std::string>> only_here;
  for (const OverflowBeside& beside : DiffOverflows(benchmark, *run).only_b) {
    only_here.emplace(beside.overflow.step, beside.overflow.op);
  }
  usual.devices =
      std::erase_if(run->overflows, [&only_here](const DeviceOverflow& over) {
        return only_here.count({over.step, over.op}) == 0;
      });
  run->tensors = std::move(kept);
  return usual;
}

}  // namespace nanwatch
