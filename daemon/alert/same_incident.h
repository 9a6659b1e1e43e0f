// What makes findings those of an incident that is there, and its name theirs.

#ifndef NANWATCH_ALERT_SAME_INCIDENT_H_
#define NANWATCH_ALERT_SAME_INCIDENT_H_

#include "alert/grouping.h"
#include "model/diagnosis.h"
#include "model/finding.h"
#include "model/incident.h"

namespace nanwatch {

bool SameFinding(const Finding& a, const Finding& b);
bool SameButForTheRank(const Finding& a, const Finding& b);

// True when it was about the same cause at the same op, if the cause names one.
bool SameCause(const Incident& incident, const FindingGroup& group);

// True when there is no cause then and now, and both are of one family and op:
// one group, whatever the rank.
bool SameUnexplained(const Incident& incident, const Origin& named,
                     const FindingGroup& group);

// True when the cause knows better than the name by now, though that is found
// still. What is left when that is over gives no name.
bool IsBetter(const FindingGroup& group, const Origin& name);

// Returns how the summary, the cause's sentence if `known`, holds the finding.
InSummary InSummaryOf(const FindingGroup& group, bool known,
                      const Finding& finding);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_SAME_INCIDENT_H_
