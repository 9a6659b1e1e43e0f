// What a person says to a run.

#include "rpc/annotate.h"
#include "rpc/bench.h"
#include "rpc/query_service.h"

namespace nanwatch {

using grpc::StatusCode;

grpc::Status QueryServiceImpl::FindToTell(
    const std::string& run_id, std::optional<int32_t> attempt,
    const Caller& caller, std::shared_ptr<const RunView>* run) const {
  *run = backend_.snapshot()->Find(run_id, attempt);
  if (*run == nullptr) {
    return {StatusCode::NOT_FOUND, WhyNotToldTo(run_id, attempt)};
  }
  const std::string& owner = (*run)->description.owner;
  if (!MayChange(owner, caller)) {
    return Deny((*run)->key.run_id, owner, caller);
  }
  return grpc::Status::OK;
}

grpc::Status QueryServiceImpl::Annotate(grpc::ServerContext* context,
                                        const v1::AnnotateRequest* request,
                                        v1::AnnotateResponse* response) {
  const Asked asked(*this, *context, Query::kCall);
  if (!asked.in.ok()) return asked.in;
  const Caller caller = callers_.Of(asked.who);
  std::shared_ptr<const RunView> run;
  if (grpc::Status may =
          FindToTell(request->run_id(), AttemptOf(*request), caller, &run);
      !may.ok()) {
    return may;
  }
  const Result<Annotation> annotation =
      ReadAnnotation(*request, *run, backend_, caller.name);
  if (!annotation) return {StatusCode::INVALID_ARGUMENT, annotation.error()};
  const Status posted = backend_.annotate(run->key, *annotation, caller);
  if (!posted) return {StatusCode::UNAVAILABLE, posted.error()};
  response->set_message(Describe(*annotation, *run, request->rule()));
  return grpc::Status::OK;
}

grpc::Status QueryServiceImpl::SetBenchmark(
    grpc::ServerContext* context, const v1::SetBenchmarkRequest* request,
    v1::SetBenchmarkResponse* response) {
  const Asked asked(*this, *context, Query::kCall);
  if (!asked.in.ok()) return asked.in;
  const Caller caller = callers_.Of(asked.who);
  std::shared_ptr<const RunView> run;
  if (grpc::Status may =
          FindToTell(request->run_id(), AttemptOf(*request), caller, &run);
      !may.ok()) {
    return may;
  }
  const Result<BenchmarkSet> set =
      ReadBenchmarkSet(*request, *run, *backend_.snapshot(), caller.name);
  if (!set) return {StatusCode::INVALID_ARGUMENT, set.error()};
  const Status posted = backend_.set_benchmark(run->key, *set, caller);
  if (!posted) return {StatusCode::UNAVAILABLE, posted.error()};
  response->set_message(Describe(*set, *run));
  return grpc::Status::OK;
}

}  // namespace nanwatch
