// What an incident says once it is over: its summary was made while it went on.

#ifndef NANWATCH_ALERT_PAST_TENSE_H_
#define NANWATCH_ALERT_PAST_TENSE_H_

#include <string>

namespace nanwatch {

// Sentences of causes and rules that speak of the present, told of the past.
// Others stay as they are.
std::string InPastTense(std::string summary);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_PAST_TENSE_H_
