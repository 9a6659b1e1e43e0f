#include "history/database.h"

#include <sqlite3.h>

#include <atomic>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/mailbox.h"

namespace nanwatch {

namespace {

// Another connection may hold the write lock for a checkpoint, briefly.
constexpr int kBusyMillis = 1000;

Error ErrorOf(sqlite3* connection) {
  const char* file = sqlite3_db_filename(connection, "main");
  return Error{std::string(file == nullptr ? "history" : file) + ": " +
               sqlite3_errmsg(connection)};
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::Bind(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
  return *this;
}

Statement& Statement::Bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::BindBlob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_, index, bytes.data(), bytes.size(),
                      SQLITE_STATIC);
  return *this;
}

Statement& Statement::BindNull(int index) {
  sqlite3_bind_null(statement_, index);
  return *this;
}

Result<bool> Statement::Next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  const Error error = ErrorOf(sqlite3_db_handle(statement_));
  sqlite3_reset(statement_);
  return error;
}

Status Statement::Run() {
  while (true) {
    const Result<bool> row = Next();
    if (!row) return Error{row.error()};
    if (!*row) return OkStatus();
  }
}

void Statement::Reset() { sqlite3_reset(statement_); }

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string_view Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Statement::Blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<Database> Database::Open(const std::string& path, Mode mode,
                                const std::string& vfs) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  flags |= mode == Mode::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                : SQLITE_OPEN_READONLY;
  // Only a URI can say "immutable"; characters that mean something in one are
  // escaped.
  std::string name = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr char kHex[] = "0123456789ABCDEF";
      name += {'%', kHex[c >> 4 & 15], kHex[c & 15]};
    } else {
      name += c;
    }
  }
  if (mode == Mode::kImmutable) name += "?immutable=1";
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags,
                                   vfs.empty() ? nullptr : vfs.c_str());
  Database database(connection, path);
  if (code != SQLITE_OK) {
    return Error{
        path + ": " +
        (connection == nullptr ? "out of memory" : sqlite3_errmsg(connection))};
  }
  sqlite3_busy_timeout(connection, kBusyMillis);
  return database;
}

Database::Database(Database&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)),
      path_(std::move(other.path_)),
      rolled_back_for_(other.rolled_back_for_) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(connection_, other.connection_);
  std::swap(path_, other.path_);
  std::swap(rolled_back_for_, other.rolled_back_for_);
  return *this;
}

Database::~Database() { sqlite3_close_v2(connection_); }

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(connection_, sql.data(), sql.size(),
                         SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK) {
    return LastError();
  }
  return Statement(statement);
}

Status Database::Execute(const std::string& sql) {
  if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    return LastError();
  }
  return OkStatus();
}

Result<int64_t> Database::Number(std::string_view sql) {
  Result<Statement> statement = Prepare(sql);
  if (!statement) return Error{statement.error()};
  const Result<bool> row = statement->Next();
  if (!row) return Error{row.error()};
  return *row ? statement->Int(0) : 0;
}

Result<std::string> Database::Text(std::string_view sql) {
  Result<Statement> statement = Prepare(sql);
  if (!statement) return Error{statement.error()};
  const Result<bool> row = statement->Next();
  if (!row) return Error{row.error()};
  return std::string(*row ? statement->Text(0) : "");
}

void Database::Rollback() {
  const Failure why = failure();
  (void)Execute("ROLLBACK");
  rolled_back_for_ = why;
}

Database::Failure Database::failure() const {
  if (rolled_back_for_ != Failure::kNone) return rolled_back_for_;
  switch (sqlite3_errcode(connection_) & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return Failure::kNone;
    case SQLITE_CORRUPT:
      return Failure::kDamaged;
    case SQLITE_NOTADB:
      return Failure::kForeign;
    case SQLITE_FULL:
      return Failure::kDiskFull;
    case SQLITE_IOERR:
      return Failure::kInputOutput;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return Failure::kReadOnly;
    default:
      return Failure::kOther;
  }
}

Error Database::LastError() const {
  return Error{path_ + ": " + sqlite3_errmsg(connection_)};
}

void Database::LeaveFilesAlone() {
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Database::TolerateCut() {
  // SQLite takes a file without its last pages only from those who may repair
  // its schema.
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
}

// SQLite counts no operations within its checks, so that only a second thread
// can end one.
Result<std::string> Database::TextWithin(Duration limit, std::string_view sql,
                                         bool* ended) {
  Mailbox<std::monostate> done(1, 1);
  std::atomic<bool> finished{false};
  bool interrupted = false;
  std::thread timer([&] {
    std::vector<std::monostate> nothing;
    done.PopAll(limit, &nothing);
    if (finished.load()) return;
    interrupted = true;
    sqlite3_interrupt(connection_);
  });
  Result<std::string> text = Text(sql);
  finished.store(true);
  done.Close();
  timer.join();
  *ended = interrupted;
  return text;
}

}  // namespace nanwatch
