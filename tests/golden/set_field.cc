#include "tests/golden/set_field.h"

#include <cstdint>

namespace nanwatch {

bool SetField(const std::string& field, double value, Row* row) {
  if (field == "scale") {
    row->scale = value;
  } else if (field == "loss") {
    row->loss = value;
  } else if (field == "grad_norm") {
    row->grad_norm = value;
  } else if (field == "overflow") {
    row->overflow = value != 0;
  } else if (field == "skipped") {
    row->skipped = value != 0;
  } else if (field == "step") {
    row->step = static_cast<int64_t>(value);
  } else if (field == "digest") {
    row->digest = static_cast<uint64_t>(value);
  } else if (field == "batch") {
    row->batch = static_cast<uint64_t>(value);
  } else if (field == "fault") {
    row->fault = static_cast<UpdateFault>(static_cast<int>(value));
  } else if (field == "stuck") {
    row->stuck = value;
  } else {
    for (int f = 0; f < kStepFields; ++f) {
      if (Name(static_cast<StepField>(f)) != field) continue;
      row->more[f] = value;
      return true;
    }
    return false;
  }
  return true;
}

}  // namespace nanwatch
