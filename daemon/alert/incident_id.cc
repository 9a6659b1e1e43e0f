#include "alert/incident_id.h"

#include "base/fnv1a.h"

namespace nanwatch {

uint64_t IncidentId(const RunKey& run, Family family, std::string_view op,
                    int64_t opened_step) {
  Fnv1a hash;
  hash.PutSized(run.run_id);
  hash.Put(static_cast<uint64_t>(run.attempt));
  hash.Put(static_cast<uint64_t>(family));
  hash.PutSized(op);
  hash.Put(static_cast<uint64_t>(opened_step));
  return hash.value() == 0 ? 1 : hash.value();
}

}  // namespace nanwatch
