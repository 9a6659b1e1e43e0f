#include "client_lib/src/identity.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "client_lib/src/socket_file.h"
#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

// Set and not empty; launchers leave empty ones behind.
std::string Text(const Environment& environment, const char* name) {
  return CleanUtf8(environment(name));
}

std::optional<int32_t> Number(const Environment& environment,
                              const char* name) {
  const char* text = environment(name);
  if (text == nullptr) return std::nullopt;
  const char* end = text + strlen(text);
  int32_t value = 0;
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc() || rest != end || value < 0) return std::nullopt;
  return value;
}

// Of a TPU slice, a name a worker, the same list on all of them.
std::string TpuHosts(const Environment& environment) {
  return Text(environment, "TPU_WORKER_HOSTNAMES");
}

std::string FindTpuJob(const Environment& environment) {
  const std::string coordinator =
      Text(environment, "MEGASCALE_COORDINATOR_ADDRESS");
  if (!coordinator.empty()) return coordinator;
  const std::string hosts = TpuHosts(environment);
  const size_t comma = hosts.find(',');
  if (comma == std::string::npos || comma == 0) return {};
  return "tpu-" + hosts.substr(0, comma);
}

std::string FindRunId(const Environment& environment) {
  if (std::string id = Text(environment, "NANWATCH_RUN_ID"); !id.empty()) {
    return id;
  }
  const std::string elastic = Text(environment, "TORCHELASTIC_RUN_ID");
  if (!elastic.empty() && elastic != "none") return elastic;
  if (std::string job = Text(environment, "SLURM_JOB_ID"); !job.empty()) {
    const std::string step = Text(environment, "SLURM_STEP_ID");
    return "slurm-" + job + (step.empty() ? "" : "." + step);
  }
  for (const auto& [host_name, port_name] :
       {std::pair("MASTER_ADDR", "MASTER_PORT"),
        std::pair("MS_SCHED_HOST", "MS_SCHED_PORT")}) {  // of MindSpore
    const std::string host = Text(environment, host_name);
    const std::string port = Text(environment, port_name);
    if (!host.empty() && !port.empty()) return host + ":" + port;
  }
  if (std::string master = Text(environment, "PADDLE_MASTER");
      !master.empty()) {
    return master;
  }
  return FindTpuJob(environment);
}

// What a launcher tells each of its processes. The nearest launcher first:
// torchrun runs under mpirun or srun, mpirun under srun, never the other way.
struct Launcher {
  const char* rank;
  const char* world_size;
  const char* local_rank;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_RANK_IN_NODE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_LOCAL_RANK"},  // MVAPICH2
    {"PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK"},
    {"RANK_ID", "RANK_SIZE", "DEVICE_ID"},  // MindSpore's msrun, Ascend's HCCL
    {"MS_NODE_ID", "MS_WORKER_NUM", "DEVICE_ID"},  // MindSpore by hand
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

// Of a TPU VM: its place in the slice, and the slice's among several.
void FindTpuRank(const Environment& environment, Identity* identity) {
  const std::string hosts = TpuHosts(environment);
  if (hosts.empty()) return;
  const int64_t workers = 1 + std::count(hosts.begin(), hosts.end(), ',');
  const int64_t worker = Number(environment, "TPU_WORKER_ID").value_or(-1);
  if (worker < 0 || worker >= workers) return;
  const int64_t slices =
      std::max(1, Number(environment, "MEGASCALE_NUM_SLICES").value_or(1));
  const int64_t slice = Number(environment, "MEGASCALE_SLICE_ID").value_or(0);
  if (slice >= slices || slices * workers > INT32_MAX) return;
  identity->rank = static_cast<int32_t>(slice * workers + worker);
  identity->world_size = static_cast<int32_t>(slices * workers);
}

void FindRank(const Environment& environment, Identity* identity) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = Number(environment, launcher.rank);
    const auto world_size = Number(environment, launcher.world_size);
    // One alone, or a rank beyond the world, is another program's variable.
    if (!rank || !world_size || *rank >= *world_size) continue;
    identity->rank = *rank;
    identity->world_size = *world_size;
    identity->local_rank = Number(environment, launcher.local_rank).value_or(0);
    return;
  }
  if (const auto rank = Number(environment, "PMIX_RANK");
      rank && *rank < INT32_MAX) {
    // PMIx has the size for who asks its library, not in the environment.
    identity->rank = *rank;
    identity->world_size = *rank + 1;
    return;
  }
  FindTpuRank(environment, identity);
}

std::string WithScheme(const std::string& address) {
  return address.starts_with("/") ? "unix:" + address : address;
}

}  // namespace

Identity FindIdentity(const nanwatch_run_options& options,
                      const Environment& environment) {
  Identity identity;
  const auto given = [&](uint32_t bit) { return (options.present & bit) != 0; };
  FindRank(environment, &identity);
  if (given(NANWATCH_RUN_RANK)) identity.rank = std::max(0, options.rank);
  if (given(NANWATCH_RUN_LOCAL_RANK)) {
    identity.local_rank = std::max(0, options.local_rank);
  }
  if (given(NANWATCH_RUN_WORLD_SIZE)) identity.world_size = options.world_size;
  identity.rank = std::min(identity.rank, INT32_MAX - 1);
  identity.world_size = std::max(identity.world_size, identity.rank + 1);

  identity.job = Text(environment, "NANWATCH_JOB");
  identity.pod = Text(environment, "NANWATCH_POD");
  identity.name_space = Text(environment, "NANWATCH_NAMESPACE");
  identity.node = Text(environment, "NANWATCH_NODE");
  identity.run_id = CleanUtf8(options.run_id);
  if (identity.run_id.empty()) identity.run_id = FindRunId(environment);
  identity.run_id_guessed = identity.run_id.empty() && identity.world_size > 1;

  if (given(NANWATCH_RUN_ATTEMPT) && options.attempt >= 0) {
    identity.attempt = options.attempt;
  }
  for (const char* name :
       {"TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}) {
    if (!identity.attempt) identity.attempt = Number(environment, name);
  }
  return identity;
}

std::vector<std::string> FindAddresses(const char* address,
                                       const Environment& environment,
                                       uid_t user) {
  if (address != nullptr && *address != '\0') return {WithScheme(address)};
  if (std::string set = Text(environment, "NANWATCH_ADDRESS"); !set.empty()) {
    return {WithScheme(set)};
  }
  std::vector<std::string> addresses;
  const std::string own = Text(environment, "XDG_RUNTIME_DIR");
  if (!own.empty()) {
    addresses.push_back("unix:" + own + "/nanwatch/ingest.sock");
  }
  // Root's daemon is the machine's.
  if (user != 0) addresses.push_back(PrivateAddress(user));
  addresses.push_back("unix:/run/nanwatch/ingest.sock");
  return addresses;
}

}  // namespace nanwatch_client
