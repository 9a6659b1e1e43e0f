#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>

#include <sstream>

namespace nanwatch {
namespace {

ConfigProblem ProblemAt(const YAML::Mark& mark, std::string sentence) {
  return {mark.line + 1, mark.column + 1, std::move(sentence)};
}

// Walks the text without building anything.
class AliasFinder : public YAML::EventHandler {
 public:
  explicit AliasFinder(ConfigReading* reading) : reading_(reading) {}

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    reading_->problems.push_back(ProblemAt(
        mark, "Aliases (*name) are not read here; write the value out."));
  }
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) {
      reading_->problems.push_back(
          ProblemAt(mark,
                    "A second document begins here; a file has one, without "
                    "'---' between and nothing after it."));
    }
  }
  int documents() const { return documents_; }

  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  ConfigReading* reading_;
  int documents_ = 0;
};

}  // namespace

YAML::Node LoadTree(const std::string& text, ConfigReading* reading) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    AliasFinder finder(reading);
    // yaml-cpp makes empty documents for ever of a text that begins with ','.
    while (finder.documents() < 2 && parser.HandleNextDocument(finder)) {
    }
    // Also of a text with such problems, to tell the others of it as well: an
    // alias is one more name of a node, nothing is copied.
    return YAML::Load(text);
  } catch (const YAML::Exception& e) {
    reading->problems.push_back(
        ProblemAt(e.mark, "This is not YAML: " + e.msg + "."));
  }
  return YAML::Node();
}

}  // namespace nanwatch
