#include "alert/incident_id.h"

namespace nanwatch {

uint64_t IncidentId(const RunKey& run, Family family, const Subject& subject,
                    int64_t opened_step) {
  StableHash hash;
  hash.Put(run.run_id);
  hash.Put(static_cast<uint64_t>(run.attempt));
  hash.Put(static_cast<uint64_t>(family));
  hash.Put(static_cast<uint64_t>(subject.rank));
  hash.Put(subject.optimizer);
  hash.Put(subject.op);
  hash.Put(static_cast<uint64_t>(subject.slot));
  hash.Put(static_cast<uint64_t>(opened_step));
  return hash.value() == 0 ? 1 : hash.value();
}

}  // namespace nanwatch
