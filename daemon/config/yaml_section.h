// YamlSection: one mapping of the file while it is read. Every key that may
// stand there is taken once, with its range; Finish tells what is left over.
// Nothing stops at the first problem.

#ifndef NANWATCH_CONFIG_YAML_SECTION_H_
#define NANWATCH_CONFIG_YAML_SECTION_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "config/problems.h"

namespace nanwatch {

// Shared by the sections of one file.
struct ConfigReading {
  std::vector<ConfigProblem> problems;
  std::vector<std::string> keys;  // every key that may stand in a file, dotted

  void Add(const YAML::Node& where, std::string sentence);
};

class YamlSection {
 public:
  // `node`: a mapping, or empty. `path`: dotted, empty at the top.
  YamlSection(const YAML::Node& node, std::string path, ConfigReading* reading);

  // Each leaves `*value` alone when the key is missing or its value is wrong.
  void Flag(const std::string& key, bool* value);
  void Whole(const std::string& key, int64_t min, int64_t max, int64_t* value);
  void Number(const std::string& key, double min, double max, double* value);
  // `zero`: a word that stands for 0 ("never"); empty: none.
  void Time(const std::string& key, Duration min, Duration max,
            std::string_view zero, Duration* value);
  void Size(const std::string& key, uint64_t min, uint64_t max,
            std::string_view zero, uint64_t* value);
  void Text(const std::string& key, std::string* value);
  void Texts(const std::string& key, std::vector<std::string>* value);
  // "ca", "cert", "key" and "token_file" of a client. A certificate and its key
  // go together.
  void ClientFiles(std::string* ca, std::string* cert, std::string* key,
                   std::string* token_file);
  template <typename T>
  void Choice(const std::string& key,
              const std::vector<std::pair<std::string, T>>& choices, T* value) {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.push_back(choice.first);
    const std::optional<std::string> word = Word(key, words);
    for (const auto& choice : choices) {
      if (word == choice.first) *value = choice.second;
    }
  }
  // The keys that are given, where any may be.
  std::vector<std::string> Keys() const;
  // A mapping inside this one; empty when it is missing.
  YamlSection Section(const std::string& key);

  // For a check across keys or of a text's form; at the place of `key`, or of
  // the file when it is not given.
  void Complain(const std::string& key, const std::string& sentence);
  // Of the list `key`: at the place of its item `index`.
  void ComplainOfItem(const std::string& key, size_t index,
                      const std::string& sentence);
  // The keys that are given, in the order of the file.
  std::vector<std::string> Names() const;
  bool Given() const { return !entries_.empty(); }
  bool Has(const std::string& key) const;
  // A key that may stand there, and is not read.
  void Know(const std::string& key) { known_.push_back(key); }
  // The scalar of `key` without taking it; empty: there is none.
  std::string Peek(const std::string& key) const;
  // Tells the keys that nobody took.
  void Finish();

 private:
  // The scalar of `key`; nullopt: missing, or no scalar (told).
  std::optional<std::string> Scalar(const std::string& key,
                                    std::string_view wanted);
  std::optional<std::string> Word(const std::string& key,
                                  const std::vector<std::string>& words);
  YAML::Node Take(const std::string& key);
  // Where to say what is wrong with `key`, which is given.
  const YAML::Node& PlaceOf(const std::string& key) const;
  std::string Dotted(const std::string& key) const;
  void Wrong(const std::string& key, const std::string& text,
             const std::string& wanted);

  std::string path_;
  ConfigReading* reading_;
  // Pairs of the mapping, in the order of the file.
  std::vector<std::pair<std::string, std::pair<YAML::Node, YAML::Node>>>
      entries_;
  std::vector<std::string> known_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_YAML_SECTION_H_
