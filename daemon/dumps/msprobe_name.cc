#include "dumps/msprobe_name.h"

#include "dumps/dump_place.h"

namespace nanwatch {
namespace {

// Takes the part behind the last dot off `text`.
std::string_view CutLast(std::string_view* text) {
  const size_t dot = text->rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view last = text->substr(dot + 1);
  text->remove_suffix(text->size() - dot);
  return last;
}

bool IsOfModule(std::string_view text) {
  return text.starts_with("Module.") || text.starts_with("Cell.");
}

// MODULE.PATH.CLASS, without what stands behind.
void TakeModule(std::string_view text, MsprobeName* name) {
  text.remove_prefix(text.find('.') + 1);
  name->type = CutLast(&text);
  name->name = text;
}

}  // namespace

MsprobeName ParseMsprobeName(std::string_view text) {
  MsprobeName name;
  name.name = text;
  std::string_view rest = text;
  std::string_view last = CutLast(&rest);
  // A module's call is counted behind its pass, a function's before it.
  std::string_view call;
  if (DigitsOf(last)) {
    call = last;
    last = CutLast(&rest);
  }
  if (last == "parameters_grad") {
    name.parameters_grad = true;
    if (IsOfModule(rest)) TakeModule(rest, &name);
    return name;
  }
  if (last != "forward" && last != "backward") return name;
  name.backward = last == "backward";
  if (IsOfModule(rest)) {
    TakeModule(rest, &name);
    return name;
  }
  name.name = rest;
  if (call.empty() && DigitsOf(rest.substr(rest.rfind('.') + 1))) {
    CutLast(&rest);
  }
  name.type = rest.substr(rest.rfind('.') + 1);
  return name;
}

}  // namespace nanwatch
