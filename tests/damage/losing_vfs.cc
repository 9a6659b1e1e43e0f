#include "tests/damage/losing_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/check.h"

namespace nanwatch {

namespace {

LosingVfs* g_losing = nullptr;  // SQLite's callbacks have no better place

// What SQLite allocates for us; the real file lies behind it.
struct ShimFile {
  sqlite3_file base;
  std::string* path;
  sqlite3_file* real() {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(this) +
                                           sizeof(ShimFile));
  }
};

sqlite3_vfs* Real() { return sqlite3_vfs_find("unix"); }
ShimFile* Shim(sqlite3_file* file) { return reinterpret_cast<ShimFile*>(file); }
sqlite3_file* RealFile(sqlite3_file* file) { return Shim(file)->real(); }

int Close(sqlite3_file* file) {
  const int code = RealFile(file)->pMethods->xClose(RealFile(file));
  delete Shim(file)->path;
  return code;
}
int Read(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  if (g_losing->dead()) return SQLITE_IOERR_READ;
  return RealFile(file)->pMethods->xRead(RealFile(file), to, count, offset);
}
int Write(sqlite3_file* file, const void* from, int count,
          sqlite3_int64 offset) {
  const int code = g_losing->OnWrite(*Shim(file)->path, offset, from, count);
  if (code != SQLITE_OK) return code;
  return RealFile(file)->pMethods->xWrite(RealFile(file), from, count, offset);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int code = g_losing->OnTruncate(*Shim(file)->path, size);
  if (code != SQLITE_OK) return code;
  return RealFile(file)->pMethods->xTruncate(RealFile(file), size);
}
int Sync(sqlite3_file* file, int) {
  return g_losing->OnSync(*Shim(file)->path);  // the real one need not
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return RealFile(file)->pMethods->xFileSize(RealFile(file), size);
}
int Lock(sqlite3_file* file, int level) {
  return RealFile(file)->pMethods->xLock(RealFile(file), level);
}
int Unlock(sqlite3_file* file, int level) {
  return RealFile(file)->pMethods->xUnlock(RealFile(file), level);
}
int CheckReserved(sqlite3_file* file, int* out) {
  return RealFile(file)->pMethods->xCheckReservedLock(RealFile(file), out);
}
int FileControl(sqlite3_file* file, int op, void* argument) {
  return RealFile(file)->pMethods->xFileControl(RealFile(file), op, argument);
}
int SectorSize(sqlite3_file*) { return 512; }
int Characteristics(sqlite3_file*) { return 0; }  // promises nothing
int ShmMap(sqlite3_file* file, int page, int size, int extend,
           void volatile** at) {
  return RealFile(file)->pMethods->xShmMap(RealFile(file), page, size, extend,
                                           at);
}
int ShmLock(sqlite3_file* file, int offset, int n, int flags) {
  return RealFile(file)->pMethods->xShmLock(RealFile(file), offset, n, flags);
}
void ShmBarrier(sqlite3_file* file) {
  RealFile(file)->pMethods->xShmBarrier(RealFile(file));
}
int ShmUnmap(sqlite3_file* file, int remove) {
  return RealFile(file)->pMethods->xShmUnmap(RealFile(file), remove);
}

const sqlite3_io_methods kMethods = {2,
                                     Close,
                                     Read,
                                     Write,
                                     Truncate,
                                     Sync,
                                     FileSize,
                                     Lock,
                                     Unlock,
                                     CheckReserved,
                                     FileControl,
                                     SectorSize,
                                     Characteristics,
                                     ShmMap,
                                     ShmLock,
                                     ShmBarrier,
                                     ShmUnmap,
                                     nullptr,
                                     nullptr};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags,
         int* out_flags) {
  file->pMethods = nullptr;
  if (g_losing->dead()) return SQLITE_CANTOPEN;
  const int code =
      Real()->xOpen(Real(), name, RealFile(file), flags, out_flags);
  if (code != SQLITE_OK) return code;
  Shim(file)->path = new std::string(name == nullptr ? "" : name);
  file->pMethods = &kMethods;
  return SQLITE_OK;
}

int Delete(sqlite3_vfs*, const char* name, int sync) {
  const int code = g_losing->OnDelete(name);
  return code != SQLITE_OK ? code : Real()->xDelete(Real(), name, sync);
}

sqlite3_vfs g_vfs;

}  // namespace

LosingVfs::LosingVfs() {
  CHECK(g_losing == nullptr);
  g_losing = this;
  g_vfs = *Real();
  g_vfs.zName = kName;
  g_vfs.pNext = nullptr;
  g_vfs.szOsFile = static_cast<int>(sizeof(ShimFile)) + Real()->szOsFile;
  g_vfs.xOpen = Open;
  g_vfs.xDelete = Delete;
  sqlite3_vfs_register(&g_vfs, 0);
}

LosingVfs::~LosingVfs() {
  sqlite3_vfs_unregister(&g_vfs);
  g_losing = nullptr;
}

int LosingVfs::OnWrite(const std::string& path, int64_t offset,
                       const void* bytes, int count) {
  if (dead_ || --writes_left_ < 0) {
    dead_ = true;
    return SQLITE_IOERR_WRITE;
  }
  if (full_) return SQLITE_FULL;
  ++writes_;
  files_[path].unsynced.push_back(
      {offset, false, std::string(static_cast<const char*>(bytes), count)});
  return SQLITE_OK;
}

int LosingVfs::OnTruncate(const std::string& path, int64_t size) {
  if (dead_) return SQLITE_IOERR_TRUNCATE;
  files_[path].unsynced.push_back({size, true, ""});
  return SQLITE_OK;
}

int LosingVfs::OnSync(const std::string& path) {
  if (dead_) return SQLITE_IOERR_FSYNC;
  File& file = files_[path];
  for (const Change& change : file.unsynced) Apply(change, &file.synced);
  file.unsynced.clear();
  return SQLITE_OK;
}

int LosingVfs::OnDelete(const std::string& path) {
  if (dead_) return SQLITE_IOERR_DELETE;
  files_.erase(path);
  return SQLITE_OK;
}

void LosingVfs::Apply(const Change& change, std::string* image) {
  if (change.truncate) {
    image->resize(change.offset);
    return;
  }
  const size_t end = change.offset + change.bytes.size();
  if (image->size() < end) image->resize(end);
  std::memcpy(image->data() + change.offset, change.bytes.data(),
              change.bytes.size());
}

void LosingVfs::WriteSurvivors(const std::string& directory, double keep,
                               uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution survives(keep);
  for (const auto& [path, file] : files_) {
    std::string image = file.synced;
    for (const Change& change : file.unsynced) {
      if (survives(random)) Apply(change, &image);
    }
    const auto name = std::filesystem::path(path).filename();
    std::ofstream(directory / name, std::ios::binary) << image;
  }
}

}  // namespace nanwatch
