#include "json/message.h"

#include <google/protobuf/util/json_util.h>

#include <cstdlib>

#include "json/value.h"
#include "model/snapshot.h"

namespace nanwatch {
namespace {

// 64-bit integers are strings in this mapping.
uint64_t WholeOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return 0;
  return std::strtoull(found->get_ref<const std::string&>().c_str(), nullptr,
                       10);
}

// A count of what `unknown` of `all` do not say is none when no one says it.
bool NotCollected(const Json& object, const char* all, const char* unknown) {
  return !Collected(WholeOf(object, all), WholeOf(object, unknown));
}

void EraseWhere(Json* object, const char* key, const Json& value) {
  const auto found = object->find(key);
  if (found != object->end() && *found == value) object->erase(found);
}

// A second key of the same value.
void AlsoAs(Json* object, const char* key, const char* also) {
  const auto found = object->find(key);
  if (found != object->end()) (*object)[also] = Json(*found);
}

// {} is the whole run.
void TidySubject(Json* subject) {
  if (subject->is_null()) *subject = Json::object();
  EraseWhere(subject, "rank", -1);
  for (const char* key :
       {"optimizer", "op", "slot", "host", "device", "type", "dtype"}) {
    EraseWhere(subject, key, "");
  }
}

void TidyIncident(Json* incident) {
  (*incident)["id"] = JsonId(WholeOf(*incident, "id"));
  EraseWhere(incident, "fired_us", "0");
  TidySubject(&(*incident)["subject"]);
  for (Json& finding : (*incident)["findings"]) {
    TidySubject(&finding["subject"]);
  }
}

void TidySummary(Json* run) {
  if (NotCollected(*run, "steps", "overflow_unknown")) run->erase("overflows");
  if (NotCollected(*run, "steps", "skipped_unknown")) run->erase("skipped");
  if (NotCollected(*run, "attempts", "fate_unknown")) run->erase("applied");
  AlsoAs(run, "attempts", "update_attempts");
}

void TidyDetail(Json* detail) {
  Json& summary = (*detail)["summary"];
  TidySummary(&summary);
  const bool skips_known = summary.contains("skipped");
  if (detail->contains("scaler")) {
    AlsoAs(&(*detail)["scaler"], "attempts_to_floor", "updates_to_floor");
  }
  for (Json& cause : (*detail)["causes"]) TidySubject(&cause["origin"]);
  for (Json& incident : (*detail)["incidents"]) TidyIncident(&incident);
  for (Json& rank : (*detail)["ranks"]) {
    if (NotCollected(rank, "steps", "overflow_unknown")) {
      rank.erase("overflows");
    }
    // A rank has no count of its own of what is not known.
    if (!skips_known) rank.erase("skipped");
  }
  for (Json& op : (*detail)["ops"]) EraseWhere(&op, "rank", -1);
  EraseWhere(detail, "stop_requested", "");
}

}  // namespace

std::string RunJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  (void)google::protobuf::util::MessageToJsonString(message, &text, options);
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return text;
  if (json.contains("summary")) TidyDetail(&json);
  if (json.contains("runs")) {
    for (Json& run : json["runs"]) TidySummary(&run);
  }
  return Dump(json, 2);
}

}  // namespace nanwatch
