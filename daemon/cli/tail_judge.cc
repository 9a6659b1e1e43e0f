#include "cli/tail_judge.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "logs/tensorboard.h"

namespace nanwatch {
namespace {

// By the first bytes: .gz, .zst or TensorBoard's.
bool IsNoText(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b") ||
         bytes.starts_with("\x28\xb5\x2f\xfd") ||
         (bytes.size() >= RecordFile::kHeadSize &&
          TensorBoardReader::Recognise(bytes));
}

// Step lines until a column that --map names and none has is spoken of.
constexpr uint64_t kLinesForColumns = 50;

}  // namespace

TailJudge::TailJudge(Options options)
    : options_(std::move(options)),
      judge_({.run_id = "tail",
              .rules = RulesOfLogs(),
              .describe = [this](int32_t) { return Describe(*speaking_); },
              .on_notice =
                  [this](const Notice& notice) {
                    options_.voice->Tell(notice);
                  }}) {
  for (const std::optional<int32_t>& rank : options_.ranks) {
    Log* log = logs_.emplace_back(std::make_unique<Log>()).get();
    log->rank = rank;
    log->reader = std::make_unique<LogReader>(
        options_.format, options_.columns,
        [this, log](const LogRecord& record) { Hold(log, record); });
    if (logs_.size() <= options_.files.size()) {
      log->reader->SetFile(options_.files[logs_.size() - 1]);
    }
    log->lines = std::make_unique<LineSplitter>(
        [log](std::string_view line) { log->reader->ReadLine(line); });
  }
}

TailJudge::~TailJudge() = default;

RunDescription TailJudge::Describe(const Log& log) const {
  RunDescription run = log.reader->run();
  run.framework = log.reader->recogniser().Emitter();
  run.world_size = std::max(world_size_, log.rank.value_or(0) + 1);
  return run;
}

void TailJudge::Hold(Log* log, LogRecord record) {
  record.rank = log->rank.value_or(record.rank);
  const int64_t step = record.step.step;
  log->newest_step = std::max<int64_t>(0, step);
  log->newest_line = record.line;
  auto known = std::find_if(
      log->newest.begin(), log->newest.end(),
      [&](const auto& newest) { return newest.first == record.optimizer; });
  if (known == log->newest.end()) {
    known = log->newest.emplace(known, record.optimizer, step);
  } else if (step < known->second && logs_.size() > 1) {
    ++log->begun_again;
    for (auto& newest : log->newest) newest.second = step;
  }
  known->second = step;
  if (!held_since_) held_since_ = now_;
  log->waiting.push_back({{log->begun_again, step}, std::move(record)});
}

// Not while a log that has lines may still turn out to show steps: of a slow
// one it is known after a while.
bool TailJudge::MayBegin() const {
  if (now_ - held_since_.value_or(now_) >= options_.idle_flush) return true;
  return std::none_of(logs_.begin(), logs_.end(), [](const auto& log) {
    return log->waits && log->waiting.empty() &&
           !log->reader->recogniser().decided();
  });
}

void TailJudge::Release() {
  while (true) {
    Log* first = nullptr;
    std::optional<Place> next;  // where the one after it stands
    for (const auto& log : logs_) {
      if (log->waiting.empty()) {
        if (log->behind && logs_.size() > 1) return;
        continue;
      }
      const Place& place = log->waiting.front().place;
      if (first == nullptr || place < first->waiting.front().place) {
        if (first != nullptr) next = first->waiting.front().place;
        first = log.get();
      } else if (!next || place < *next) {
        next = place;
      }
    }
    if (first == nullptr || (!begun_ && !MayBegin())) return;
    if (!begun_) {
      begun_ = true;
      for (const auto& log : logs_) {
        if (log->waiting.empty()) continue;
        world_size_ = std::max(world_size_, log->rank.value_or(0) + 1);
      }
    }
    do {
      Take(first, first->waiting.front().record);
      first->waiting.pop_front();
    } while (!first->waiting.empty() &&
             (!next || first->waiting.front().place <=
                           Place(next->first, next->second + kSliceSteps)));
  }
}

void TailJudge::Take(Log* log, const LogRecord& record) {
  if (speaking_ != log) judge_.Judge();
  speaking_ = log;
  judge_.Take(record.rank, record.optimizer, record.step);
  if (options_.feed == nullptr) return;
  if (!options_.feed->IsOpen(record.rank)) {
    options_.feed->Open(record.rank, Describe(*log));
  }
  options_.feed->Push(record);
}

void TailJudge::Feed(size_t number, std::string_view bytes, Time now) {
  Log& log = *logs_[number];
  if (log.foreign) return;
  if (log.lines->bytes() == 0 && IsNoText(bytes)) {
    log.foreign = true;
    log.behind = false;
    options_.voice->Note(
        "this is packed or TensorBoard's, which `nanwatch check` reads when it "
        "is complete");
    return;
  }
  log.fed = now_ = now;
  log.waits = log.behind = true;
  log.lines->Feed(bytes);
  Release();
  judge_.Judge();
  TellNews();
}

void TailJudge::Look() {
  for (const auto& log : logs_) log->behind = !log->foreign;
}

void TailJudge::Nothing(size_t number) {
  logs_[number]->behind = false;
  Release();
  judge_.Judge();
  TellNews();
}

void TailJudge::Break(size_t number) { logs_[number]->lines->Finish(); }

void TailJudge::Tick(Time now) {
  now_ = now;
  for (const auto& log : logs_) {
    if (!log->waits || now - log->fed < options_.idle_flush) continue;
    log->waits = false;
    log->lines->Finish();
    log->reader->Flush();
  }
  Release();
  judge_.Judge();
  TellNews();
}

void TailJudge::TellMissing(Log* log, uint64_t lines) const {
  const uint64_t seen = log->reader->recogniser().step_lines();
  if (log->told_missing || seen < lines) return;
  log->told_missing = true;
  std::string names;
  for (const std::string& pair : log->reader->MissingColumns()) {
    names += (names.empty() ? "" : ", ") + pair;
  }
  if (names.empty()) return;
  options_.voice->Note(
      fmt::format("--map {}: none of {} step lines has such a number, so it is "
                  "not judged",
                  names, seen));
}

void TailJudge::TellNews() {
  for (const auto& log : logs_) {
    TellMissing(log.get(), kLinesForColumns);
    const Recogniser& recogniser = log->reader->recogniser();
    if (recognised_ || recogniser.program() == nullptr ||
        recogniser.step_lines() == 0) {
      continue;
    }
    recognised_ = true;
    const bool guess = recogniser.certainty() == Recogniser::Certainty::kGuess;
    options_.voice->Note(
        guess ? fmt::format("no known program's log; reading its numbers by "
                            "their names ({})",
                            recogniser.Emitter())
              : fmt::format("a log of {}", recogniser.Emitter()));
  }
  if (options_.feed == nullptr) return;
  if (const auto news = options_.feed->News()) options_.voice->Note(*news);
}

LogVerdict TailJudge::Finish() {
  LogVerdict verdict;
  for (const auto& log : logs_) {
    log->lines->Finish();
    log->reader->Finish();
    log->behind = log->waits = false;
  }
  Release();
  bool went_on = false;  // after the program said that it stops
  for (const auto& log : logs_) {
    verdict.lines += log->reader->lines();
    verdict.coverage.Add(log->reader->recogniser().coverage());
    if (verdict.emitter.empty()) {
      verdict.emitter = log->reader->recogniser().Emitter();
    }
    if (!verdict.broke) verdict.broke = log->reader->broke();
    if (verdict.stopped || !log->reader->stopped()) continue;
    verdict.stopped = log->reader->stopped();
    went_on = log->newest_line > verdict.stopped->line;
  }
  static_cast<RecordVerdict&>(verdict) =
      judge_.Conclude(EndOf(verdict.stopped, went_on, verdict.broke),
                      verdict.broke ? verdict.broke->rank : std::nullopt);
  for (const auto& log : logs_) TellMissing(log.get(), 1);
  TellNews();
  return verdict;
}

}  // namespace nanwatch
