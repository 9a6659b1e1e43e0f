// What the sender is to say of this process: the opening of its session.

#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "client_lib/src/enum_number.h"
#include "client_lib/src/identity.h"
#include "client_lib/src/session.h"
#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;

// The daemon's limits (daemon/model/limits.h).
constexpr size_t kSettings = 64;
constexpr size_t kSettingBytes = 1024;
constexpr size_t kDefaultUnackedBytes = 64 << 20;

uint64_t RandomId() {
  uint64_t id = 0;
  // Without the kernel's help: the time, which two ranks hardly share to the
  // nanosecond, and the pid, which two on a machine do not.
  if (getrandom(&id, sizeof id, GRND_NONBLOCK) != sizeof id) {
    id = static_cast<uint64_t>(
             std::chrono::steady_clock::now().time_since_epoch().count()) *
             0x9E3779B97F4A7C15u ^
         static_cast<uint64_t>(getpid()) << 40;
  }
  return id == 0 ? 1 : id;
}

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return {};
  return CleanUtf8(name);
}

void FillScaler(const nanwatch_scaler& from, v1::Scaler* to) {
  const auto given = [&from](uint32_t bit) {
    return (from.present & bit) != 0;
  };
  if (const int kind = EnumNumber(from.kind); v1::ScalingKind_IsValid(kind)) {
    to->set_kind(static_cast<v1::ScalingKind>(kind));
  }
  to->set_name(CleanUtf8(from.name));
  if (given(NANWATCH_SCALER_INIT_SCALE)) to->set_init_scale(from.init_scale);
  if (given(NANWATCH_SCALER_GROWTH_FACTOR)) {
    to->set_growth_factor(from.growth_factor);
  }
  if (given(NANWATCH_SCALER_BACKOFF_FACTOR)) {
    to->set_backoff_factor(from.backoff_factor);
  }
  if (given(NANWATCH_SCALER_GROWTH_INTERVAL)) {
    to->set_growth_interval(from.growth_interval);
  }
  if (given(NANWATCH_SCALER_HYSTERESIS)) to->set_hysteresis(from.hysteresis);
  if (given(NANWATCH_SCALER_MIN_SCALE)) to->set_min_scale(from.min_scale);
  if (given(NANWATCH_SCALER_MAX_SCALE)) to->set_max_scale(from.max_scale);
  if (given(NANWATCH_SCALER_OVERFLOW_CHECK)) {
    to->set_overflow_check(from.overflow_check != 0);
  }
}

void FillRun(const nanwatch_run_options& from, const Identity& identity,
             v1::RunInfo* to) {
  to->set_run_id(identity.run_id);
  to->set_run_id_guessed(identity.run_id_guessed);
  if (identity.attempt) to->set_attempt(*identity.attempt);
  to->set_world_size(identity.world_size);
  to->set_job(CleanUtf8(from.job));
  if (to->job().empty()) to->set_job(identity.job);
  to->set_framework(CleanUtf8(from.framework));
  to->set_precision(CleanUtf8(from.precision));
  if (const int mode = EnumNumber(from.overflow_mode);
      v1::OverflowMode_IsValid(mode)) {
    to->set_overflow_mode(static_cast<v1::OverflowMode>(mode));
  }
  FillScaler(from.scaler, to->mutable_scaler());
  if ((from.present & NANWATCH_RUN_CLIP_NORM) != 0) {
    to->set_clip_norm(from.clip_norm);
  }
  if ((from.present & NANWATCH_RUN_SEED) != 0) to->set_seed(from.seed);
  for (size_t i = 0; from.settings != nullptr && i < from.settings_count; ++i) {
    if (to->settings().size() == kSettings) break;
    const std::string key = CleanUtf8(from.settings[i].key);
    if (key.empty()) continue;
    (*to->mutable_settings())[key] =
        CleanUtf8(from.settings[i].value, kSettingBytes);
  }
}

void FillRank(const nanwatch_run_options& from, const Identity& identity,
              v1::RankInfo* to) {
  to->set_rank(identity.rank);
  to->set_local_rank(identity.local_rank);
  to->set_host(from.host == nullptr ? HostName() : CleanUtf8(from.host));
  to->set_device(CleanUtf8(from.device));
  to->set_device_id(CleanUtf8(from.device_id));
  to->set_pid(getpid());
  to->set_dp(from.dp);
  to->set_tp(from.tp);
  to->set_pp(from.pp);
  to->set_ep(from.ep);
  to->set_cp(from.cp);
  if ((identity.pod + identity.name_space + identity.node).empty()) return;
  to->mutable_pod()->set_name(identity.pod);
  to->mutable_pod()->set_namespace_(identity.name_space);
  to->mutable_pod()->set_node(identity.node);
}

}  // namespace

SenderOptions MakeSenderOptions(const nanwatch_run_options& options) {
  const Environment environment = [](const char* name) -> const char* {
    return getenv(name);
  };
  const Identity identity = FindIdentity(options, environment);
  SenderOptions sender;
  sender.addresses = FindAddresses(options.address, environment, getuid());
  sender.credentials = FindCredentialFiles(environment);
  sender.unacked_bytes =
      options.unacked_bytes == 0 ? kDefaultUnackedBytes : options.unacked_bytes;
  if (const char* file = getenv("NANWATCH_ANNOUNCE")) sender.announce = file;
  sender.open.set_session(RandomId());
  sender.open.set_client("nanwatch-cpp/" NANWATCH_VERSION);
  FillRun(options, identity, sender.open.mutable_run());
  FillRank(options, identity, sender.open.mutable_rank());
  return sender;
}

}  // namespace nanwatch_client
