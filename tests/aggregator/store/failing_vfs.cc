#include "tests/aggregator/store/failing_vfs.h"

#include <sqlite3.h>

namespace l4::store::test {
namespace {

int calls = 0, fail_from = 0, fail_to = 0;

bool fails() {
  ++calls;
  return calls >= fail_from && calls < fail_to;
}

/// SQLite's own file, with the real one behind it in memory.
struct Wrapped {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }  // NOLINT
};

sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<Wrapped*>(file)->real();  // NOLINT: the layout above
}

int close(sqlite3_file* f) {
  return real(f)->pMethods->xClose(real(f));
}
int read(sqlite3_file* f, void* into, int size, sqlite3_int64 at) {
  return real(f)->pMethods->xRead(real(f), into, size, at);
}
int write(sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
  if (fails()) return SQLITE_FULL;
  return real(f)->pMethods->xWrite(real(f), from, size, at);
}
int truncate(sqlite3_file* f, sqlite3_int64 size) {
  if (fails()) return SQLITE_IOERR_TRUNCATE;
  return real(f)->pMethods->xTruncate(real(f), size);
}
int sync(sqlite3_file* f, int flags) {
  if (fails()) return SQLITE_IOERR_FSYNC;
  return real(f)->pMethods->xSync(real(f), flags);
}
int file_size(sqlite3_file* f, sqlite3_int64* size) {
  return real(f)->pMethods->xFileSize(real(f), size);
}
int lock(sqlite3_file* f, int how) {
  return real(f)->pMethods->xLock(real(f), how);
}
int unlock(sqlite3_file* f, int how) {
  return real(f)->pMethods->xUnlock(real(f), how);
}
int reserved(sqlite3_file* f, int* out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
int control(sqlite3_file* f, int what, void* with) {
  return real(f)->pMethods->xFileControl(real(f), what, with);
}
int sector(sqlite3_file* f) {
  return real(f)->pMethods->xSectorSize(real(f));
}
int traits(sqlite3_file* f) {
  return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

/// Version 1 lacks shared memory; exclusive locking needs none.
sqlite3_io_methods methods{1,    close,  read,     write,   truncate, sync,   file_size,
                           lock, unlock, reserved, control, sector,   traits, {},
                           {},   {},     {},       {},      {}};

sqlite3_vfs* usual() {
  return ::sqlite3_vfs_find(nullptr);
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  file->pMethods = nullptr;
  if (fails()) return SQLITE_CANTOPEN;
  const int code = usual()->xOpen(usual(), name, real(file), flags, out);
  if (code == SQLITE_OK) file->pMethods = &methods;
  return code;
}

sqlite3_vfs vfs;

}  // namespace

FailingVfs::FailingVfs() {
  vfs = *usual();
  vfs.zName = "l4-failing";
  vfs.pNext = nullptr;
  vfs.szOsFile += static_cast<int>(sizeof(Wrapped));
  vfs.xOpen = open;
  ::sqlite3_vfs_register(&vfs, 0);
}

FailingVfs::~FailingVfs() {
  ::sqlite3_vfs_unregister(&vfs);
}

void FailingVfs::fail(int first, int count) {
  fail_from = calls + first;
  fail_to = fail_from + count;
}

}  // namespace l4::store::test
