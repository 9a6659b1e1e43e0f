#include "cli/name_hash.h"

#include <openssl/sha.h>
#include <spdlog/fmt/fmt.h>

#include <cstring>
#include <map>
#include <utility>
#include <variant>

#include "alert/incident_book.h"
#include "base/check.h"
#include "scaler/catalog.h"

namespace nanwatch {

std::string NameHash::Hash(std::string_view name) const {
  if (name.empty()) return "";
  std::string salted(reinterpret_cast<const char*>(&salt_), sizeof salt_);
  salted += name;
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(salted.data()), salted.size(),
         digest);
  uint64_t head = 0;
  std::memcpy(&head, digest, sizeof head);
  return fmt::format("h-{:016x}", head);
}

void NameHash::HashReference(
    std::shared_ptr<const Benchmark>* benchmark) const {
  if (*benchmark == nullptr) return;
  auto hashed = std::make_shared<Benchmark>(**benchmark);
  hashed->reference = Hash(hashed->reference);
  *benchmark = std::move(hashed);
}

void NameHash::HashNames(Event* event) const {
  CHECK(!std::holds_alternative<RunCheckpoint>(event->body));
  event->run.run_id = Hash(event->run.run_id);
  if (auto* opened = std::get_if<RunOpened>(&event->body)) {
    RunDescription& run = opened->description;
    run.job = Hash(run.job);
    run.owner = Hash(run.owner);
    if (FindScaler(run.scaler.name) == nullptr) {
      run.scaler.name = Hash(run.scaler.name);
    }
    std::map<std::string, std::string> settings;
    for (const auto& [key, value] : run.settings) {
      settings[Hash(key)] = Hash(value);
    }
    run.settings = std::move(settings);
    HashReference(&opened->benchmark);
    for (PastTrouble& trouble : opened->troubles_before) {
      trouble.op = Hash(trouble.op);
      trouble.optimizer = Hash(trouble.optimizer);
      const RunKey before{event->run.run_id, trouble.attempt};
      trouble.id =
          IncidentId(before, trouble.family, trouble.op, trouble.opened_step);
    }
  } else if (auto* ended = std::get_if<RecordsEnded>(&event->body)) {
    if (ended->gave_up) ended->gave_up->words.clear();
    if (ended->end) ended->end->message.clear();
  } else if (auto* set = std::get_if<BenchmarkSet>(&event->body)) {
    HashReference(&set->benchmark);
    set->by = Hash(set->by);
  } else if (auto* rank = std::get_if<RankOpened>(&event->body)) {
    rank->rank.host = Hash(rank->rank.host);
    rank->rank.device = Hash(rank->rank.device);
    rank->rank.device_id = Hash(rank->rank.device_id);
    Pod& pod = rank->rank.pod;
    pod = {Hash(pod.name), Hash(pod.name_space), Hash(pod.node)};
  } else if (auto* names = std::get_if<OpNamesAdded>(&event->body)) {
    for (OpName& op : names->names.ops) op.name = Hash(op.name);
  } else if (auto* steps = std::get_if<StepBatch>(&event->body)) {
    for (std::string& name : steps->columns.optimizers) name = Hash(name);
  } else if (auto* annotation = std::get_if<Annotation>(&event->body)) {
    annotation->by = Hash(annotation->by);
    annotation->reason = Hash(annotation->reason);
  }
}

void NameHash::HashNames(const RunKey& hashed_run, Incident* incident) const {
  incident->subject.op = Hash(incident->subject.op);
  incident->subject.optimizer = Hash(incident->subject.optimizer);
  incident->host.clear();
  incident->device.clear();
  incident->pod = {};
  incident->summary.clear();
  incident->acknowledged_by.clear();
  incident->findings.clear();
  incident->id = IncidentId(hashed_run, incident->family, incident->subject.op,
                            incident->opened_step);
}

}  // namespace nanwatch
