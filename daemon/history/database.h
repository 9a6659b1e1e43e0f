// Database and Statement: SQLite with our error style. One thread at a time.

#ifndef NANWATCH_HISTORY_DATABASE_H_
#define NANWATCH_HISTORY_DATABASE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace nanwatch {

// Text and blobs that are bound must live until Run() or Reset().
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // Parameters count from 1.
  Statement& Bind(int index, int64_t value);
  Statement& Bind(int index, std::string_view text);
  Statement& BindBlob(int index, std::string_view bytes);
  Statement& BindNull(int index);

  // True: there is a row, to be read before the next call.
  Result<bool> Next();
  // Runs to the end and resets.
  Status Run();
  void Reset();

  // Columns count from 0. Views stay valid until Next, Run or Reset.
  int64_t Int(int column) const;
  bool IsNull(int column) const;
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;

 private:
  friend class Database;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  enum class Mode {
    kWrite,      // creates the file
    kRead,       // beside a writer
    kImmutable,  // nobody writes it, and nothing beside it may be made
  };
  // What kind of failure the last one was.
  enum class Failure {
    kNone,
    kDamaged,
    kForeign,
    kDiskFull,
    kInputOutput,
    kReadOnly,
    kOther
  };

  // `vfs` empty: the system's.
  static Result<Database> Open(const std::string& path, Mode mode,
                               const std::string& vfs);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  Result<Statement> Prepare(std::string_view sql);
  // Statements without results.
  Status Execute(const std::string& sql);
  // The first column of the first row; 0 if there is none or it is null.
  Result<int64_t> Number(std::string_view sql);
  Result<std::string> Text(std::string_view sql);

  // After Rollback: the one that led to it.
  Failure failure() const;
  // Of a transaction that failed.
  void Rollback();
  // The last failure says that the file's content is wrong.
  bool IsDamaged() const {
    return failure() == Failure::kDamaged || failure() == Failure::kForeign;
  }
  // Of the last failure, naming the file.
  Error LastError() const;
  const std::string& path() const { return path_; }
  // What lies under its name is another file's by now: closing it must neither
  // move its log into the database nor remove a log.
  void LeaveFilesAlone();
  // Of a reader: takes a file that is shorter than it should be for what there
  // is of it.
  void TolerateCut();
  // As Text, ended when it takes longer than `limit` of real time: true, and
  // what it found so far means nothing.
  Result<std::string> TextWithin(Duration limit, std::string_view sql,
                                 bool* ended);

 private:
  Database(sqlite3* connection, std::string path)
      : connection_(connection), path_(std::move(path)) {}
  sqlite3* connection_ = nullptr;
  std::string path_;
  Failure rolled_back_for_ = Failure::kNone;
};

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_DATABASE_H_
