#include "wire/run_codec.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "model/limits.h"

namespace nanwatch {
namespace {

struct NamedText {
  std::string_view name;
  const std::string& text;
};

Verdict CheckTexts(std::initializer_list<NamedText> texts) {
  for (const NamedText& one : texts) {
    if (one.text.size() <= limits::kNameBytes) continue;
    return Complaint{fmt::format("{} has {} bytes, at most {} are taken; "
                                 "shorten it",
                                 one.name, one.text.size(), limits::kNameBytes),
                     "string_bytes"};
  }
  return std::nullopt;
}

Verdict ReadSettings(const v1::RunInfo& from, RunDescription* to) {
  if (from.settings().size() > limits::kSettings) {
    return Complaint{fmt::format("{} settings, at most {} are taken; send what "
                                 "touches precision",
                                 from.settings().size(), limits::kSettings),
                     "settings"};
  }
  for (const auto& [key, value] : from.settings()) {
    if (key.size() > limits::kNameBytes ||
        value.size() > limits::kSettingBytes) {
      return Complaint{
          fmt::format("a setting has a key of {} and a value of {} bytes, at "
                      "most {} and {} are taken; shorten it",
                      key.size(), value.size(), limits::kNameBytes,
                      limits::kSettingBytes),
          "string_bytes"};
    }
    to->settings.emplace(key, value);
  }
  return std::nullopt;
}

// A scaler's own numbers must be such that its model can be run; what the
// training then does with them is judged, not refused.
Verdict CheckScaler(const ScalerDeclaration& scaler) {
  const auto wrong = [](std::string_view name, const char* range) {
    return Complaint{fmt::format("scaler.{} must be {}; leave it out when it "
                                 "is not known",
                                 name, range),
                     ""};
  };
  if (scaler.growth_factor &&
      !(*scaler.growth_factor > 0 && std::isfinite(*scaler.growth_factor))) {
    return wrong("growth_factor", "a positive number");
  }
  if (scaler.backoff_factor &&
      !(*scaler.backoff_factor > 0 && std::isfinite(*scaler.backoff_factor))) {
    return wrong("backoff_factor", "a positive number");
  }
  if (scaler.init_scale && std::isnan(*scaler.init_scale)) {
    return wrong("init_scale", "a number");
  }
  if (scaler.min_scale && !(*scaler.min_scale >= 0)) {
    return wrong("min_scale", "0 or more");
  }
  if (scaler.max_scale && !(*scaler.max_scale >= 0)) {
    return wrong("max_scale", "0 or more");
  }
  if (scaler.growth_interval && *scaler.growth_interval < 1) {
    return wrong("growth_interval", "1 or more");
  }
  if (scaler.hysteresis && *scaler.hysteresis < 0) {
    return wrong("hysteresis", "0 or more");
  }
  return std::nullopt;
}

template <typename E>
E KnownOr(int value, int last, E unknown) {
  return value >= 0 && value <= last ? static_cast<E>(value) : unknown;
}

Verdict ReadScaler(const v1::Scaler& from, ScalerDeclaration* to) {
  if (Verdict w = CheckTexts({{"scaler.name", from.name()}})) return w;
  to->kind =
      KnownOr(from.kind(), v1::SCALING_KIND_LAYERWISE, ScalingKind::kUnknown);
  to->name = from.name();
  if (from.has_init_scale()) to->init_scale = from.init_scale();
  if (from.has_growth_factor()) to->growth_factor = from.growth_factor();
  if (from.has_backoff_factor()) to->backoff_factor = from.backoff_factor();
  if (from.has_growth_interval()) to->growth_interval = from.growth_interval();
  if (from.has_hysteresis()) to->hysteresis = from.hysteresis();
  if (from.has_min_scale()) to->min_scale = from.min_scale();
  if (from.has_max_scale()) to->max_scale = from.max_scale();
  if (from.has_overflow_check()) to->overflow_check = from.overflow_check();
  return CheckScaler(*to);
}

void WriteScaler(const ScalerDeclaration& from, v1::Scaler* to) {
  to->set_kind(static_cast<v1::ScalingKind>(from.kind));
  to->set_name(from.name);
  if (from.init_scale) to->set_init_scale(*from.init_scale);
  if (from.growth_factor) to->set_growth_factor(*from.growth_factor);
  if (from.backoff_factor) to->set_backoff_factor(*from.backoff_factor);
  if (from.growth_interval) to->set_growth_interval(*from.growth_interval);
  if (from.hysteresis) to->set_hysteresis(*from.hysteresis);
  if (from.min_scale) to->set_min_scale(*from.min_scale);
  if (from.max_scale) to->set_max_scale(*from.max_scale);
  if (from.overflow_check) to->set_overflow_check(*from.overflow_check);
}

}  // namespace

Verdict ReadRun(const v1::RunInfo& from, RunDescription* to) {
  if (Verdict w = CheckTexts({{"run.job", from.job()},
                              {"run.framework", from.framework()},
                              {"run.precision", from.precision()},
                              {"run.owner", from.owner()}})) {
    return w;
  }
  to->job = from.job();
  to->framework = from.framework();
  to->precision = from.precision();
  if (from.world_size() < 0 || from.world_size() > limits::kWorldSizeMax) {
    return Complaint{fmt::format("run.world_size is {}; it must lie in 0 .. {}",
                                 from.world_size(), limits::kWorldSizeMax),
                     ""};
  }
  to->world_size = std::max(from.world_size(), 1);
  to->overflow_mode =
      KnownOr(from.overflow_mode(), v1::OVERFLOW_MODE_SATURATION,
              OverflowMode::kUnknown);
  if (Verdict w = ReadScaler(from.scaler(), &to->scaler)) return w;
  if (from.has_clip_norm()) to->clip_norm = from.clip_norm();
  if (from.has_seed()) to->seed = from.seed();
  to->run_id_guessed = from.run_id_guessed();
  to->owner = from.owner();
  return ReadSettings(from, to);
}

Verdict ReadRank(const v1::RankInfo& from, int32_t world_size,
                 RankDescription* to) {
  if (from.rank() < 0 || from.rank() >= world_size) {
    return Complaint{fmt::format("rank {} is outside a world of {}; say "
                                 "world_size, and ranks from 0",
                                 from.rank(), world_size),
                     ""};
  }
  if (Verdict w = CheckTexts({{"rank.host", from.host()},
                              {"rank.device", from.device()},
                              {"rank.device_id", from.device_id()},
                              {"rank.pod.name", from.pod().name()},
                              {"rank.pod.namespace", from.pod().namespace_()},
                              {"rank.pod.node", from.pod().node()}})) {
    return w;
  }
  const std::pair<std::string_view, int32_t> places[] = {
      {"local_rank", from.local_rank()},
      {"dp", from.dp()},
      {"tp", from.tp()},
      {"pp", from.pp()},
      {"ep", from.ep()},
      {"cp", from.cp()}};
  for (const auto& [name, place] : places) {
    if (place >= 0 && place < limits::kWorldSizeMax) continue;
    return Complaint{fmt::format("rank.{} is {}; it counts from 0, below {}",
                                 name, place, limits::kWorldSizeMax),
                     ""};
  }
  to->rank = from.rank();
  to->local_rank = from.local_rank();
  to->host = from.host();
  to->device = from.device();
  to->device_id = from.device_id();
  to->pid = from.pid();
  to->place = {from.dp(), from.tp(), from.pp(), from.ep(), from.cp()};
  to->shapes = from.shapes();
  to->pod = {from.pod().name(), from.pod().namespace_(), from.pod().node()};
  to->replica =
      KnownOr(from.replica(), v1::REPLICA_KIND_ALIKE, ReplicaKind::kDeclared);
  return std::nullopt;
}

Verdict ReadProgramEnd(const v1::ProgramEnd& from, ProgramEnd* to) {
  if (Verdict w = CheckTexts({{"end.type", from.type()}})) return w;
  if (from.message().size() > limits::kSettingBytes) {
    return Complaint{
        fmt::format("end.message has {} bytes, at most {} are taken; cut it",
                    from.message().size(), limits::kSettingBytes),
        "string_bytes"};
  }
  to->kind =
      KnownOr(from.kind(), kProgramEndKinds - 1, ProgramEnd::Kind::kUnknown);
  to->type = from.type();
  to->message = from.message();
  return std::nullopt;
}

void WriteRun(const RunDescription& from, v1::RunInfo* to) {
  to->set_job(from.job);
  to->set_framework(from.framework);
  to->set_precision(from.precision);
  to->set_world_size(from.world_size);
  to->set_overflow_mode(static_cast<v1::OverflowMode>(from.overflow_mode));
  WriteScaler(from.scaler, to->mutable_scaler());
  if (from.clip_norm) to->set_clip_norm(*from.clip_norm);
  if (from.seed) to->set_seed(*from.seed);
  for (const auto& [key, value] : from.settings) {
    (*to->mutable_settings())[key] = value;
  }
  to->set_run_id_guessed(from.run_id_guessed);
  to->set_owner(from.owner);
}

void WritePod(const Pod& from, v1::Pod* to) {
  to->set_name(from.name);
  to->set_namespace_(from.name_space);
  to->set_node(from.node);
}

void WriteRank(const RankDescription& from, v1::RankInfo* to) {
  to->set_rank(from.rank);
  to->set_local_rank(from.local_rank);
  to->set_host(from.host);
  to->set_device(from.device);
  to->set_device_id(from.device_id);
  to->set_pid(from.pid);
  to->set_dp(from.place.dp);
  to->set_tp(from.place.tp);
  to->set_pp(from.place.pp);
  to->set_ep(from.place.ep);
  to->set_cp(from.place.cp);
  to->set_shapes(from.shapes);
  if (from.pod.known()) WritePod(from.pod, to->mutable_pod());
  to->set_replica(static_cast<v1::ReplicaKind>(from.replica));
}

void WriteProgramEnd(const ProgramEnd& from, v1::ProgramEnd* to) {
  to->set_kind(static_cast<v1::ProgramEndKind>(from.kind));
  to->set_type(from.type);
  to->set_message(from.message);
}

}  // namespace nanwatch
