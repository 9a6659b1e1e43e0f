// FileWatch: notices that somebody removed, replaced or cut a history file that
// is open. SQLite would go on writing into what has no name any more.

#ifndef NANWATCH_HISTORY_FILE_WATCH_H_
#define NANWATCH_HISTORY_FILE_WATCH_H_

#include <cstdint>
#include <string>

namespace nanwatch {

class FileWatch {
 public:
  // Takes down what is there: the database, its log and its shared memory. A
  // part that is not there yet is taken down when it is.
  explicit FileWatch(std::string path);
  // What happened to them, in a sentence; empty: they only grew. Three stat
  // calls, a few microseconds.
  std::string Look();
  // The database has its name, its log none.
  bool LogWasRemoved() const;

 private:
  struct Part {
    const char* suffix;
    uint64_t device = 0;
    uint64_t file = 0;  // its number; 0: not there yet
    uint64_t bytes = 0;
  };
  std::string LookAt(Part* part) const;

  std::string path_;
  Part parts_[3] = {{""}, {"-wal"}, {"-shm"}};
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_FILE_WATCH_H_
