#include "cli/log_flags.h"

namespace nanwatch {

std::vector<Option> LogFlags::Options() {
  return {
      {"--format", &format, "the program that printed it; default: found out"},
      {.names = "--map",
       .target = &map,
       .help = "FIELD=COLUMN,...: where numbers are in logs of no known "
               "program, e.g. loss=train/loss,scale=amp/scale; other "
               "fields are found by their usual names. Fields: " +
               ColumnFieldNames(),
       .delimiter = ','}};
}

std::vector<Option> LogFlags::OptionsOfALog() {
  std::vector<Option> options = Options();
  options[0].help = "of a log: " + options[0].help;
  options[1].help = "of a log: FIELD=COLUMN,..., as for `nanwatch check`";
  return options;
}

Status LogFlags::Resolve(const LogFormat** to_format,
                         ColumnMap* columns) const {
  const Result<ColumnMap> read = ParseColumnMap(map);
  if (!read.ok()) return Error{read.error()};
  *columns = *read;
  if (format.empty()) return OkStatus();
  *to_format = FindLogFormat(format);
  if (*to_format != nullptr) return OkStatus();
  return Error{"there is no log format " + format +
               "; `nanwatch check --list-formats` lists them"};
}

}  // namespace nanwatch
