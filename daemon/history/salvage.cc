#include "history/salvage.h"

#include <utility>
#include <vector>

#include "history/event_copy.h"
#include "history/reader.h"

namespace nanwatch {

namespace {

std::string Events(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " event" : " events");
}

}  // namespace

Salvaged Salvage(const std::string& damaged, Database& fresh) {
  Result<std::unique_ptr<HistoryReader>> reader = HistoryReader::Open(damaged);
  if (!reader) {
    return {"Nothing could be read back (" + reader.error() +
                "); history begins anew.",
            0};
  }
  EventCopy copy(fresh);
  Status copied = OkStatus();
  const Status read =
      (*reader)->ForEachEvent(0, std::nullopt, [&](const StampedEvent& event) {
        copied = copy.Add(event);
        return copied.ok();
      });
  if (copied) copied = copy.Finish();
  if (Result<std::vector<std::pair<RunKey, Incident>>> sent = (*reader)->Sent();
      sent && copied) {
    std::vector<SentIncident> incidents;
    for (auto& [run, incident] : *sent) {
      incidents.push_back({run, std::move(incident)});
    }
    copied = copy.AddSent(std::move(incidents));
  }
  if (copy.newest() != 0) {
    // What is missing below is known now, and counted in the message.
    (void)fresh.Execute(
        "INSERT OR REPLACE INTO meta VALUES ("
        "'removed_through', " +
        std::to_string(copy.newest()) + ")");
  }
  const uint64_t lost = (*reader)->damaged_events();
  std::string message = Events(copy.events()) + " could be read back";
  // Without an event there is no last one.
  if (copy.newest() != 0) {
    message += ", " + Events(lost) + " before the last of them are gone";
  }
  if (!read) message += " and what followed (" + read.error() + ")";
  if (!copied) message += "; copying them failed: " + copied.error();
  const std::string missing = (*reader)->missing();
  return {message + (missing.empty() ? "." : ". " + missing), lost};
}

}  // namespace nanwatch
