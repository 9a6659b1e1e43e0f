// LosingVfs: SQLite's file system with a power switch. Every write counts; at a
// chosen one the power goes, and from then on every call fails. What survives
// is what was synced, and, of what was not, whichever writes chance keeps.

#ifndef NANWATCH_TESTS_DAMAGE_LOSING_VFS_H_
#define NANWATCH_TESTS_DAMAGE_LOSING_VFS_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace nanwatch {

class LosingVfs {
 public:
  // Registers a VFS of this name; one at a time.
  static constexpr char kName[] = "losing";
  LosingVfs();
  ~LosingVfs();
  LosingVfs(const LosingVfs&) = delete;
  LosingVfs& operator=(const LosingVfs&) = delete;

  // The power goes at the n-th write from here on.
  void LosePowerAt(int64_t n) { writes_left_ = n; }
  // Every write fails for want of room, until it is set back.
  void set_full(bool full) { full_ = full; }
  bool dead() const { return dead_; }
  int64_t writes() const { return writes_; }

  // Writes what survived into `directory`, under the files' own names. `keep`:
  // the share of unsynced writes that made it to the disk all the same.
  void WriteSurvivors(const std::string& directory, double keep, uint64_t seed);

  // Called by the file methods; a SQLite result code, or 0.
  int OnWrite(const std::string& path, int64_t offset, const void* bytes,
              int count);
  int OnTruncate(const std::string& path, int64_t size);
  int OnSync(const std::string& path);
  int OnDelete(const std::string& path);

 private:
  struct Change {
    int64_t offset = 0;  // of a truncation: the size
    bool truncate = false;
    std::string bytes;
  };
  struct File {
    std::string synced;
    std::vector<Change> unsynced;
  };
  static void Apply(const Change& change, std::string* image);

  std::map<std::string, File> files_;
  int64_t writes_left_ = INT64_MAX;
  int64_t writes_ = 0;
  bool full_ = false;
  bool dead_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_DAMAGE_LOSING_VFS_H_
