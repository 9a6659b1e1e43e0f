// From text to a YAML tree, or to the reasons why there is none.

#ifndef NANWATCH_CONFIG_YAML_TREE_H_
#define NANWATCH_CONFIG_YAML_TREE_H_

#include <yaml-cpp/yaml.h>

#include <string>

#include "config/yaml_section.h"

namespace nanwatch {

// The first document; a null node when it is not YAML. Aliases (*name) are told
// as problems: read as values, a file of a few lines could hold itself.
YAML::Node LoadTree(const std::string& text, ConfigReading* reading);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_YAML_TREE_H_
