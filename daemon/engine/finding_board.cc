#include "engine/finding_board.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/diagnosis.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

constexpr FindingKey::List kLists[] = {
    FindingKey::List::kStep,      FindingKey::List::kOp,
    FindingKey::List::kAligned,   FindingKey::List::kTime,
    FindingKey::List::kLife,      FindingKey::List::kLayer,
    FindingKey::List::kLayerMove, FindingKey::List::kBench};

}  // namespace

bool FindingBoard::Put(const FindingKey& key, Finding finding) {
  const auto found = findings_.find(key);
  if (found != findings_.end()) {
    found->second = std::move(finding);
    return true;
  }
  // Each op of each rank may have some: they leave room for those of the run.
  const size_t most = key.list == FindingKey::List::kOp
                          ? limits::kOpFindingsPerRun
                          : limits::kFindingsPerRun;
  if (findings_.size() >= most) {
    ++not_kept_;
    return false;
  }
  findings_.emplace(key, std::move(finding));
  return true;
}

bool FindingBoard::Remove(const FindingKey& key) {
  return findings_.erase(key) > 0;
}

bool FindingBoard::RemoveRank(int32_t rank) {
  return std::erase_if(findings_, [rank](const auto& entry) {
           return entry.first.rank == rank;
         }) > 0;
}

Finding* FindingBoard::Find(const FindingKey& key) {
  const auto found = findings_.find(key);
  return found == findings_.end() ? nullptr : &found->second;
}

std::vector<FindingKey> FindingBoard::Keys() const {
  std::vector<FindingKey> keys;
  for (const auto& [key, finding] : findings_) keys.push_back(key);
  return keys;
}

bool FindingBoard::HasAnyOf(int32_t rank) const {
  return !KeysOf(rank).empty();
}

std::vector<FindingKey> FindingBoard::KeysOf(int32_t rank) const {
  std::vector<FindingKey> keys;
  for (const FindingKey::List list : kLists) {
    auto at = findings_.lower_bound({list, rank, 0, 0});
    for (; at != findings_.end() && at->first.list == list &&
           at->first.rank == rank;
         ++at) {
      keys.push_back(at->first);
    }
  }
  return keys;
}

Severity FindingBoard::WorstOf(int32_t rank, const Diagnosis& diagnosis) const {
  Severity worst = Severity::kNone;
  for (const auto& [key, finding] : findings_) {
    if (finding.subject.rank != rank) continue;
    worst = std::max(worst, UnderCeiling(diagnosis, finding));
  }
  return worst;
}

std::vector<Finding> FindingBoard::Sorted() const {
  std::vector<Finding> all;
  all.reserve(findings_.size());
  for (const auto& [key, finding] : findings_) all.push_back(finding);
  std::sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.opened_step, a.rule, a.subject) <
           std::tie(b.opened_step, b.rule, b.subject);
  });
  return all;
}

}  // namespace nanwatch
