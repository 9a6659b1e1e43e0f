#include "history/incident_codec.h"

#include "model/incident_fields.h"
#include "nanwatch/v1/history.pb.h"
#include "wire/message_fields.h"

namespace nanwatch {
namespace {

// Histories of before they were kept have no families but the incident's.
void AddFamilies(v1::StoredIncident* stored) {
  const uint32_t family = stored->family();
  if (!stored->has_alert_family()) stored->set_alert_family(family);
  for (v1::StoredFinding& finding : *stored->mutable_findings()) {
    if (!finding.has_family()) finding.set_family(family);
  }
}

}  // namespace

void EncodeIncident(const Incident& incident, std::string* out) {
  v1::StoredIncident stored;
  MessageWriter writer(&stored, nullptr);
  Fields(writer, const_cast<Incident&>(incident));
  stored.SerializeToString(out);
}

Result<Incident> DecodeIncident(std::string_view bytes) {
  v1::StoredIncident stored;
  if (stored.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    AddFamilies(&stored);
    Incident incident;
    MessageReader reader(stored);
    Fields(reader, incident);
    if (reader.ok()) return incident;
  }
  return Error{
      "a stored incident cannot be read: damaged, or of a newer version"};
}

}  // namespace nanwatch
