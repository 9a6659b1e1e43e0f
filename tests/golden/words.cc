#include "tests/golden/words.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/golden/words_file.h"

namespace nanwatch {
namespace {

constexpr std::string_view kRewrite =
    "\nwhere it is meant, run tests/golden/rewrite and read the diff";

// "detect" of "detect_tests".
std::string Program() {
  std::string name = program_invocation_short_name;
  if (name.ends_with("_tests")) name.resize(name.size() - 6);
  return name;
}

std::string PathOf(const std::string& name) {
  return WordsFolder() + "/" + name;
}

std::string Read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void Write(const std::string& path, std::string_view text) {
  if (Read(path) == text) return;
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) ADD_FAILURE() << "cannot write " << path;
}

std::string NameOf(const ::testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

std::string QuotedOrNone(const std::vector<std::string>* texts, size_t index) {
  if (texts == nullptr || index >= texts->size()) return "nothing";
  return "\"" + (*texts)[index] + "\"";
}

// Held for a read and a write of the file: shards of a program share it.
class Lock {
 public:
  Lock() : fd_(open(WordsFolder().c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~Lock() {
    if (fd_ >= 0) close(fd_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  const int fd_;
};

// Collects what the tests of this program say; gtest owns it.
class Listener : public ::testing::EmptyTestEventListener {
 public:
  Listener()
      : file_(PathOf(Program() + ".txt")), held_(ParseWords(Read(file_))) {}

  void Say(const std::string& test, std::string_view text,
           const std::source_location& from) {
    std::vector<std::string>& said = said_[test];
    if (!said.empty() && said.back() == text) return;
    said.emplace_back(text);
    if (WritesGoldens()) return;
    const auto held = held_.find(test);
    const std::vector<std::string>* texts =
        held == held_.end() ? nullptr : &held->second;
    const size_t index = said.size() - 1;
    if (texts != nullptr && index < texts->size() && (*texts)[index] == text) {
      return;
    }
    ADD_FAILURE_AT(from.file_name(), static_cast<int>(from.line()))
        << "it says\n\"" << text << "\"\nand " << file_ << " holds\n"
        << QuotedOrNone(texts, index) << kRewrite;
  }

  void OnTestStart(const ::testing::TestInfo& test) override {
    said_[NameOf(test)].clear();
  }

  // A test that failed may have stopped before it said all.
  void OnTestEnd(const ::testing::TestInfo& test) override {
    const std::string name = NameOf(test);
    if (!test.result()->Passed()) {
      said_.erase(name);
    } else if (!WritesGoldens() && held_.contains(name) &&
               said_[name].size() < held_[name].size()) {
      ADD_FAILURE() << "it says no more, and " << file_ << " holds\n"
                    << QuotedOrNone(&held_[name], said_[name].size())
                    << kRewrite;
    }
  }

  // Keeps what the file holds of tests that did not run.
  void OnTestProgramEnd(const ::testing::UnitTest& unit) override {
    if (!WritesGoldens()) return;
    const Lock lock;
    const WordsFile before = ParseWords(Read(file_));
    WordsFile after;
    for (int s = 0; s < unit.total_test_suite_count(); ++s) {
      const ::testing::TestSuite& suite = *unit.GetTestSuite(s);
      for (int i = 0; i < suite.total_test_count(); ++i) {
        const std::string name = NameOf(*suite.GetTestInfo(i));
        const WordsFile& words = said_.contains(name) ? said_ : before;
        const auto found = words.find(name);
        if (found != words.end()) after.insert(*found);
      }
    }
    const std::string text = Format(after);
    if (!text.empty()) {
      Write(file_, text);
    } else {
      std::filesystem::remove(file_);
    }
  }

 private:
  const std::string file_;
  WordsFile held_;
  WordsFile said_;
};

// Registered before any test: a test that says nothing any more is seen.
Listener* const listener = [] {
  auto* made = new Listener;
  ::testing::UnitTest::GetInstance()->listeners().Append(made);
  return made;
}();

}  // namespace

void ExpectWords(std::string_view text, std::source_location from) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  listener->Say(NameOf(*test), text, from);
}

void ExpectWordsFile(const std::string& name, std::string_view text,
                     std::source_location from) {
  const std::string path = PathOf(name);
  if (WritesGoldens()) return Write(path, text);
  const std::string held = Read(path);
  if (held == text) return;
  std::istringstream is{std::string(text)};
  std::istringstream was{held};
  std::string now;
  std::string before;
  int line = 0;
  do {
    ++line;
    if (!std::getline(is, now)) now = "(the end)";
    if (!std::getline(was, before)) before = "(the end)";
  } while (now == before && (is || was));
  ADD_FAILURE_AT(from.file_name(), static_cast<int>(from.line()))
      << path << ", line " << line << ": it says\n"
      << now << "\nand the file holds\n"
      << before << kRewrite;
}

std::string WordsFolder() { return GOLDEN_WORDS_DIR; }

bool WritesGoldens() {
  const char* value = std::getenv("NANWATCH_WRITE_GOLDENS");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace nanwatch
