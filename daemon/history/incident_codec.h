// The bytes of an incident as history keeps what was last sent of it.

#ifndef NANWATCH_HISTORY_INCIDENT_CODEC_H_
#define NANWATCH_HISTORY_INCIDENT_CODEC_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/incident.h"

namespace nanwatch {

void EncodeIncident(const Incident& incident, std::string* out);
Result<Incident> DecodeIncident(std::string_view bytes);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_INCIDENT_CODEC_H_
