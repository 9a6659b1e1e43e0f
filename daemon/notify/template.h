// The body of a webhook: JSON in which {{placeholders}} stand inside strings.

#ifndef NANWATCH_NOTIFY_TEMPLATE_H_
#define NANWATCH_NOTIFY_TEMPLATE_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/incident.h"
#include "notify/alert.h"

namespace nanwatch {

// Understood by chat systems (the key "text") and by programs.
std::string_view DefaultWebhookBody();

// An error names the placeholders that do not exist, and says when the result
// would be no JSON: all that is wrong, in one sentence that begins small.
Status CheckWebhookBody(std::string_view body);

// Values are escaped for the inside of a JSON string. Unknown placeholders stay
// as they are.
std::string RenderWebhookBody(std::string_view body, const Notice& notice,
                              const LinkBases& bases);

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_TEMPLATE_H_
