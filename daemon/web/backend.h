// WebBackend: what the HTTP side reads. app/ fills it in; tests fake it.

#ifndef NANWATCH_WEB_BACKEND_H_
#define NANWATCH_WEB_BACKEND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "history/reader.h"
#include "metrics/options.h"
#include "model/audit.h"
#include "model/caller.h"
#include "model/event.h"
#include "model/self_sample.h"
#include "model/snapshot.h"
#include "web/http.h"

namespace nanwatch {

// What comparing two runs came to.
struct ComparisonReply {
  int status = 200;  // HTTP's
  std::string what;  // unless it is 200: why not, and what to do; sentences
  std::string todo;
  std::string json;  // where it is 200
};

// Every function is called from any of the server's threads, several at once.
struct WebBackend {
  std::function<std::shared_ptr<const Snapshot>()> snapshot;  // never null
  std::function<std::vector<SelfSample>()> self_samples;
  // A reader of its own for each request. Not set: the history is off.
  std::function<Result<std::unique_ptr<HistoryReader>>()> open_history;
  // A run that has left the snapshot, judged again from history; seconds for a
  // long one. Null: history knows none such. Not set: the history is off.
  std::function<Result<std::shared_ptr<const RunView>>(std::string_view run_id,
                                                       std::optional<int32_t>)>
      past_run;
  // The second run beside the first one; seconds for long ones. Not set: the
  // history is off.
  std::function<ComparisonReply(const RunKey&, const RunKey&)> compare;
  // Empty: ready. Else the reason, a sentence.
  std::function<std::string()> not_ready;
  std::function<Time()> now;
  // Posts what somebody said of a run as an event. Not set: nothing is taken.
  std::function<Status(const RunKey&, const Annotation&, const Caller&)>
      annotate;
  // Where nobody is asked who he is: what nobody owns, and what this process's
  // user owns is shown to him, and where he is that user he may say something
  // of it.
  Caller speaks_as;
  // Of a name that was proven; an error: a sentence why he is not let in.
  std::function<Result<Caller>(const std::string& name)> caller_of;
  // Hears of who was refused. Not set: nobody does.
  AuditSink audit;
  // Requests of a kind that he may have answered at once; empty: who has no
  // name. Not set: as many as there are places.
  std::function<size_t(const std::string& user)> queries_of;
  // Counts one of model/limits.h that was met. Not set: nobody does.
  std::function<void(std::string_view limit)> count_limit;
  // Whether everyone sees every run. Not set: so it is.
  std::function<bool()> read_by_everyone;
  // Why others may listen in, or ask for anything, a sentence; empty: they may
  // not. Not set: so it is.
  std::function<std::string()> insecure;
  // Name of a rule by its number; empty: not known.
  std::function<std::string(RuleId)> rule_name;
  std::string version;  // of the daemon
  MetricsOptions metrics;
};

// Who asks.
inline const Caller& CallerOf(const WebBackend& backend,
                              const HttpRequest& request) {
  return request.caller ? *request.caller : backend.speaks_as;
}

// True when he sees every run.
inline bool SeesAll(const WebBackend& backend, const Caller& caller) {
  return !backend.read_by_everyone || backend.read_by_everyone() ||
         caller.admin;
}

// True when he sees the runs of `owner`.
inline bool MayRead(const WebBackend& backend, std::string_view owner,
                    const Caller& caller) {
  return SeesAll(backend, caller) || MayChange(owner, caller);
}

}  // namespace nanwatch

#endif  // NANWATCH_WEB_BACKEND_H_
