// What a person says to a run: mute, unmute, acknowledge, stop.

#ifndef NANWATCH_RPC_ANNOTATE_H_
#define NANWATCH_RPC_ANNOTATE_H_

#include <string>

#include "base/result.h"
#include "model/event.h"
#include "model/snapshot.h"
#include "nanwatch/v1/query.pb.h"
#include "rpc/query_backend.h"

namespace nanwatch {

// `caller`: the user behind the call; empty: not known.
Result<Annotation> ReadAnnotation(const v1::AnnotateRequest& request,
                                  const RunView& run,
                                  const QueryBackend& backend,
                                  const std::string& caller);

// What was done, in one sentence. `rule` is the rule's name, or empty.
std::string Describe(const Annotation& annotation, const RunView& run,
                     const std::string& rule);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_ANNOTATE_H_
