// rows: the reference for durable ingest: one SQLite row a step, WAL and the
// same `synchronous` as the history, 5,000 rows a transaction: about as long as
// the history's take.

#include <sqlite3.h>

#include <chrono>
#include <cstdio>

namespace {

constexpr int kTransactions = 200;
constexpr int kRows = 5000;

void Exec(sqlite3* db, const char* sql) {
  char* error = nullptr;
  if (sqlite3_exec(db, sql, nullptr, nullptr, &error) != SQLITE_OK) {
    std::fprintf(stderr, "rows: %s: %s\n", sql, error);
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  sqlite3* db = nullptr;
  if (sqlite3_open(argv[1], &db) != SQLITE_OK) return 1;
  Exec(db, "pragma journal_mode=wal");
  Exec(db, "pragma synchronous=full");
  Exec(db,
       "create table steps(run integer, rank integer, step integer, time "
       "integer, loss real, scale real, overflow integer, norm real, lr real)");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "insert into steps values(?,?,?,?,?,?,?,?,?)", -1,
                     &insert, nullptr);
  const auto begun = std::chrono::steady_clock::now();
  for (int t = 0; t < kTransactions; ++t) {
    Exec(db, "begin");
    for (int r = 0; r < kRows; ++r) {
      const sqlite3_int64 step = 1ll * t * kRows + r;
      sqlite3_bind_int64(insert, 1, 1);
      sqlite3_bind_int64(insert, 2, 0);
      sqlite3_bind_int64(insert, 3, step);
      sqlite3_bind_int64(insert, 4, 1700000000000000ll + step * 1000);
      sqlite3_bind_double(insert, 5, 2.0 + 0.001 * (r % 13));
      sqlite3_bind_double(insert, 6, 65536);
      sqlite3_bind_int64(insert, 7, 0);
      sqlite3_bind_double(insert, 8, 1.0 + 0.01 * (r % 11));
      sqlite3_bind_double(insert, 9, 1e-3);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    Exec(db, "commit");
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun)
          .count();
  sqlite3_finalize(insert);
  sqlite3_close(db);
  std::printf("{\"rows_per_s\": %.0f}\n", kTransactions * kRows / seconds);
  return 0;
}
