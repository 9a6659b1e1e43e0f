#include "model/incident.h"

namespace nanwatch {

std::string_view Name(AlertState state) {
  switch (state) {
    case AlertState::kPending:
      return "pending";
    case AlertState::kFiring:
      return "firing";
    case AlertState::kResolved:
      return "resolved";
  }
  return "pending";
}

}  // namespace nanwatch
