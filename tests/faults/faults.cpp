#include "tests/faults/faults.h"

#include "traces/store/reading/trace_files.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sqlite3.h>
#include <sys/mman.h>

namespace schedscope::test {

namespace {

std::atomic<Fault> armed = Fault::none;
std::atomic<int64_t> left = 0;
std::atomic<bool>* reached = nullptr; ///< in memory that is shared with what is forked

/// Is it this one's turn to fail?
bool fails(Fault fault) noexcept {
    if (armed.load(std::memory_order_relaxed) != fault || left.fetch_sub(1) != 1) {
        return false;
    }
    *reached = true;
    errno = EIO; // which SQLite asks for
    return true;
}

// ---- Files: a file system of SQLite's in front of another one ----

struct FaultyFile {
    sqlite3_file base;
    sqlite3_file* real; ///< behind this, in the same piece of memory
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<FaultyFile*>(file)->real; }
template <typename... Parameters, typename... Arguments>
int pass(sqlite3_file* file, int (*sqlite3_io_methods::*method)(sqlite3_file*, Parameters...), Arguments... arguments) {
    return (real(file)->pMethods->*method)(real(file), arguments...);
}

int read_file(sqlite3_file* file, void* to, int n, sqlite3_int64 at) {
    return fails(Fault::read) ? SQLITE_IOERR_READ : pass(file, &sqlite3_io_methods::xRead, to, n, at);
}
int write_file(sqlite3_file* file, const void* from, int n, sqlite3_int64 at) {
    if (fails(Fault::write)) {
        return SQLITE_FULL;
    }
    if (fails(Fault::short_write)) {
        pass(file, &sqlite3_io_methods::xWrite, from, n / 2, at);
        return SQLITE_IOERR_WRITE;
    }
    return pass(file, &sqlite3_io_methods::xWrite, from, n, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    return fails(Fault::truncate) ? SQLITE_IOERR_TRUNCATE : pass(file, &sqlite3_io_methods::xTruncate, size);
}
int sync_file(sqlite3_file* file, int flags) {
    return fails(Fault::sync) ? SQLITE_IOERR_FSYNC : pass(file, &sqlite3_io_methods::xSync, flags);
}
int lock_file(sqlite3_file* file, int kind) {
    return fails(Fault::lock) ? SQLITE_IOERR_LOCK : pass(file, &sqlite3_io_methods::xLock, kind);
}
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** where) {
    return fails(Fault::shared) ? SQLITE_IOERR_SHMMAP : pass(file, &sqlite3_io_methods::xShmMap, region, size, extend, where);
}
int lock_shared(sqlite3_file* file, int offset, int n, int flags) {
    const bool takes = (flags & SQLITE_SHM_LOCK) != 0; // what is given back can't fail
    return takes && fails(Fault::shared) ? SQLITE_IOERR_SHMLOCK : pass(file, &sqlite3_io_methods::xShmLock, offset, n, flags);
}

/// As many methods as the real file has: without shared memory SQLite takes another way.
const sqlite3_io_methods* methods_like(int version) {
    static const auto make = [](int v) {
        sqlite3_io_methods m{};
        m.iVersion = v;
        m.xClose = [](sqlite3_file* f) { return pass(f, &sqlite3_io_methods::xClose); };
        m.xRead = read_file;
        m.xWrite = write_file;
        m.xTruncate = truncate_file;
        m.xSync = sync_file;
        m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return pass(f, &sqlite3_io_methods::xFileSize, size); };
        m.xLock = lock_file;
        m.xUnlock = [](sqlite3_file* f, int kind) { return pass(f, &sqlite3_io_methods::xUnlock, kind); };
        m.xCheckReservedLock = [](sqlite3_file* f, int* out) { return pass(f, &sqlite3_io_methods::xCheckReservedLock, out); };
        m.xFileControl = [](sqlite3_file* f, int op, void* arg) { return pass(f, &sqlite3_io_methods::xFileControl, op, arg); };
        m.xSectorSize = [](sqlite3_file* f) { return pass(f, &sqlite3_io_methods::xSectorSize); };
        m.xDeviceCharacteristics = [](sqlite3_file* f) { return pass(f, &sqlite3_io_methods::xDeviceCharacteristics); };
        m.xShmMap = map_shared;
        m.xShmLock = lock_shared;
        m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
        m.xShmUnmap = [](sqlite3_file* f, int remove) { return pass(f, &sqlite3_io_methods::xShmUnmap, remove); };
        return m;
    };
    static const sqlite3_io_methods one = make(1), two = make(2);
    return version == 1 ? &one : &two; // nothing is mapped
}

sqlite3_vfs* behind(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* opened) {
    auto* const f = reinterpret_cast<FaultyFile*>(file);
    f->base.pMethods = nullptr;
    f->real = reinterpret_cast<sqlite3_file*>(f + 1);
    if (fails(Fault::open)) {
        return SQLITE_CANTOPEN;
    }
    const int code = behind(vfs)->xOpen(behind(vfs), name, f->real, flags, opened);
    if (f->real->pMethods != nullptr) {
        f->base.pMethods = methods_like(f->real->pMethods->iVersion);
    }
    return code;
}

/// The same under the same name.
void put_in_front_of(sqlite3_vfs* vfs, bool is_default) {
    auto* const front = new sqlite3_vfs(*vfs); // for the rest of the program
    front->pAppData = vfs;
    front->pNext = nullptr;
    front->szOsFile = static_cast<int>(sizeof(FaultyFile)) + vfs->szOsFile;
    front->xOpen = open_file;
    front->xDelete = [](sqlite3_vfs* v, const char* name, int sync) {
        return fails(Fault::remove) ? SQLITE_IOERR_DELETE : behind(v)->xDelete(behind(v), name, sync);
    };
    front->xAccess = [](sqlite3_vfs* v, const char* name, int flags, int* out) {
        return behind(v)->xAccess(behind(v), name, flags, out);
    };
    front->xFullPathname = [](sqlite3_vfs* v, const char* name, int n, char* out) {
        return behind(v)->xFullPathname(behind(v), name, n, out);
    };
    front->xRandomness = [](sqlite3_vfs* v, int n, char* out) { return behind(v)->xRandomness(behind(v), n, out); };
    front->xSleep = [](sqlite3_vfs* v, int us) { return behind(v)->xSleep(behind(v), us); };
    front->xCurrentTime = [](sqlite3_vfs* v, double* out) { return behind(v)->xCurrentTime(behind(v), out); };
    front->xCurrentTimeInt64 = [](sqlite3_vfs* v, sqlite3_int64* out) { return behind(v)->xCurrentTimeInt64(behind(v), out); };
    front->xGetLastError = [](sqlite3_vfs* v, int n, char* out) { return behind(v)->xGetLastError(behind(v), n, out); };
    sqlite3_vfs_register(front, is_default ? 1 : 0);
}

// ---- Memory ----

sqlite3_mem_methods system_memory;

void install_memory() {
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
    sqlite3_mem_methods failing = system_memory;
    failing.xMalloc = [](int n) -> void* { return fails(Fault::allocation) ? nullptr : system_memory.xMalloc(n); };
    failing.xRealloc = [](void* p, int n) -> void* { return fails(Fault::allocation) ? nullptr : system_memory.xRealloc(p, n); };
    sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
}

void* allocate(size_t n) {
    if (fails(Fault::allocation)) {
        return nullptr;
    }
    return std::malloc(n == 0 ? 1 : n);
}
void* allocate_aligned(size_t n, std::align_val_t alignment) {
    const auto a = static_cast<size_t>(alignment);
    return fails(Fault::allocation) ? nullptr : std::aligned_alloc(a, (n + a - 1) / a * a);
}
void* or_throw(void* p) { return p != nullptr ? p : throw std::bad_alloc(); }

} // namespace

const char* fault_name(Fault fault) noexcept {
    constexpr const char* names[] = {"none",     "open", "read",   "write",  "short write", "sync",
                                     "truncate", "lock", "shared", "remove", "allocation"};
    return names[static_cast<size_t>(fault)];
}

void install_faults() {
    void* const shared = mmap(nullptr, sizeof(*reached), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        std::abort();
    }
    reached = new (shared) std::atomic<bool>(false);
    install_memory();
    put_in_front_of(sqlite3_vfs_find(TraceFiles::file_system()), false);
    put_in_front_of(sqlite3_vfs_find(nullptr), true);
}

void arm(Fault fault, int64_t n) noexcept {
    *reached = false;
    left = n;
    armed = fault;
}

void disarm() noexcept { armed = Fault::none; }

bool was_reached() noexcept { return *reached; }

} // namespace schedscope::test

// The program's own memory.
void* operator new(size_t n) { return schedscope::test::or_throw(schedscope::test::allocate(n)); }
void* operator new[](size_t n) { return schedscope::test::or_throw(schedscope::test::allocate(n)); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return schedscope::test::allocate(n); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return schedscope::test::allocate(n); }
void* operator new(size_t n, std::align_val_t a) { return schedscope::test::or_throw(schedscope::test::allocate_aligned(n, a)); }
void* operator new[](size_t n, std::align_val_t a) {
    return schedscope::test::or_throw(schedscope::test::allocate_aligned(n, a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { std::free(p); }
