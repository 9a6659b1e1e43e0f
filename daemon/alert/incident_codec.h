// An incident as bytes, for checkpoints.

#ifndef NANWATCH_ALERT_INCIDENT_CODEC_H_
#define NANWATCH_ALERT_INCIDENT_CODEC_H_

#include "alert/bytes.h"
#include "alert/grouping.h"
#include "alert/transition.h"
#include "model/incident.h"

namespace nanwatch {

void PutIncident(const Incident& incident, ByteWriter* out);
// Check in->ok() afterwards.
Incident GetIncident(ByteReader* in);

void PutOrigin(const Origin& origin, ByteWriter* out);
Origin GetOrigin(ByteReader* in);

void PutPhase(const AlertPhase& phase, ByteWriter* out);
AlertPhase GetPhase(ByteReader* in);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_INCIDENT_CODEC_H_
