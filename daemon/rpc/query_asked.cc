// QueryServiceImpl::Asked: who asks, and whether he may have one call more.

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "rpc/callers.h"
#include "rpc/query_service.h"
#include "rpc/users.h"

namespace nanwatch {

using grpc::StatusCode;

QueryServiceImpl::Asked::Asked(QueryServiceImpl& service,
                               const grpc::ServerContext& context, Query kind)
    : who(service.callers_.Identify(context)), kind_(kind) {
  if (!who.refused.empty()) {
    in = {StatusCode::UNAUTHENTICATED, who.refused};
    return;
  }
  const Caller caller = service.callers_.Of(who);
  auto user = service.users_.Of(caller.name);
  if (user->Ask(kind)) {
    user_ = std::move(user);
    return;
  }
  service.stats_.CountLimit("user_queries");
  in = {StatusCode::RESOURCE_EXHAUSTED,
        fmt::format("{} has {} calls of this kind already, as much as is "
                    "allowed (quotas.queries): end some, or come again later",
                    QuotaHolder(user->name()), user->QueriesMost(kind))};
  service.Audit(caller, in.error_message());
}

QueryServiceImpl::Asked::~Asked() {
  if (user_ != nullptr) user_->Answered(kind_);
}

}  // namespace nanwatch
