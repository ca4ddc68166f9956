#include "traces/store/reading/trace_files.h"

#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/files.h"
#include "runtime/system/number_words.h"
#include "traces/store/reading/trace_file.h"
#include "traces/store/recording_lock.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sqlite3.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

namespace schedscope {

namespace {

struct stat facts_of(const Descriptor& file) {
    struct stat facts {};
    fstat(file.get(), &facts);
    return facts;
}

} // namespace

struct TraceFiles::State {
    /// A file that SQLite sees: what was opened of it, and above that what SQLite wrote, which no other reader sees.
    struct Part {
        static constexpr int64_t block_bytes = 4096;
        using Block = std::array<unsigned char, block_bytes>;

        Descriptor file;
        int64_t base = 0; ///< bytes of `file` that count
        int64_t size = 0;
        bool exists = false;
        std::unordered_map<int64_t, std::unique_ptr<Block>> written; ///< by offset / block_bytes

        void begin(Descriptor from, int64_t bytes) {
            file = std::move(from);
            base = size = bytes;
            exists = true;
        }
        void clear() {
            written.clear();
            base = size = 0;
        }
    };

    std::string path;
    Stop stop;
    uint64_t number = 0;
    Part trace, wal, journal;
    std::array<unsigned char, 100> header{};
    FileVersion version;
    int64_t bytes = 0;
    bool has_journal = false, being_recorded = false;
    Beside beside = Beside::nothing;

    // While SQLite reads; two connections may do so at once, and then nothing is written.
    std::atomic<bool> shrank = false, too_much_written = false;
    std::atomic<int64_t> written_bytes = 0;

    bool stopped() const { return stop && stop(); }
};

namespace {

using State = TraceFiles::State;
using Part = State::Part;

// ---- Opening ----

/// Copies what a file holds, and not what it only says to hold: holes stay holes.
Descriptor copy_of(const State& state, const Descriptor& from, int64_t bytes, int64_t& room) {
    const auto fail = [&] {
        refuse(state.path, std::string("is being recorded, and no copy to read can be made: ") + std::strerror(errno));
    };
    Descriptor to = temporary_file();
    if (!to || ftruncate(to.get(), bytes) != 0) {
        fail();
    }
    std::array<char, 1 << 16> part{};
    for (int64_t at = 0; at < bytes;) {
        off_t begin = lseek(from.get(), at, SEEK_DATA);
        if (begin < 0 && errno == ENXIO) {
            break; // the rest is a hole
        }
        begin = begin < 0 ? at : begin; // this file system knows no holes
        off_t end = lseek(from.get(), begin, SEEK_HOLE);
        end = end < 0 ? bytes : std::min<off_t>(end, bytes);
        for (at = begin; at < end;) {
            if (state.stopped()) {
                throw Interrupted();
            }
            const size_t wanted = std::min<int64_t>(part.size(), end - at);
            const ssize_t n = pread(from.get(), part.data(), wanted, at);
            if (n < 0 && errno == EINTR) {
                continue;
            }
            if (n <= 0) { // it got shorter meanwhile, which is seen afterwards
                at = end;
                break;
            }
            room -= n;
            if (room < 0) {
                refuse(state.path, "is being recorded; a copy to read it takes more than " +
                                       words::limit(budget::trace_copy_bytes) + "; try again when the recording is done");
            }
            if (pwrite(to.get(), part.data(), n, at) != n) {
                fail();
            }
            at += n;
        }
    }
    return to;
}

/// Bytes that a file holds: without its holes, which only make it look large.
int64_t held_bytes(const State& state, const Descriptor& file, int64_t size) {
    constexpr int most_parts = 1 << 20; // half a second
    int64_t held = 0;
    int n_parts = 0;
    for (off_t at = 0; at < size; ++n_parts) {
        const off_t begin = lseek(file.get(), at, SEEK_DATA);
        if (begin < 0 && errno != ENXIO) {
            return size; // this file system knows no holes
        }
        if (begin < 0 || begin >= size) {
            break;
        }
        const off_t end = lseek(file.get(), begin, SEEK_HOLE);
        at = end < 0 ? size : std::min<off_t>(end, size);
        held += at - begin;
        if (n_parts == most_parts) {
            refuse_broken(state.path, "is damaged: it is full of holes");
        }
    }
    return held;
}

/// The part of the file beside the trace with this suffix, if it is there with content. `bytes` stays where it is not there.
Descriptor open_beside(const State& state, const char* suffix, int64_t& bytes) {
    Descriptor file(open((state.path + suffix).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) {
        if (errno != ENOENT) {
            refuse(state.path + suffix, std::strerror(errno));
        }
        return {};
    }
    const struct stat facts = facts_of(file);
    if (!S_ISREG(facts.st_mode)) {
        refuse(state.path + suffix, "is not a regular file");
    }
    bytes = facts.st_size;
    return bytes > 0 ? std::move(file) : Descriptor();
}

/// A rollback journal that ends with this names a file that SQLite would delete; the journals of traces never do.
void refuse_super_journal(const State& state, const Descriptor& journal, int64_t bytes) {
    constexpr unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char end[8]{};
    const bool ends_so = bytes >= 8 && pread(journal.get(), end, sizeof end, bytes - 8) == 8 && std::memcmp(end, magic, 8) == 0;
    // One that is nothing but its header begins and ends with it.
    if (ends_so && bytes > 8) {
        refuse(state.path + "-journal", "names another file, which no trace's journal does");
    }
}

Descriptor open_trace(State& state) {
    RegularFile opened = open_regular_file(state.path, "a trace");
    state.version = FileVersion::of(opened.facts);
    state.header = {};
    const ssize_t n = pread(opened.descriptor.get(), state.header.data(), state.header.size(), 0);
    if (n < 0) {
        refuse(state.path, std::strerror(errno));
    }
    return std::move(opened.descriptor);
}

/// What a write-ahead log begins with: numbers that are others each time that it is begun again.
std::array<unsigned char, 32> log_header(const Descriptor& log) {
    std::array<unsigned char, 32> bytes{};
    return pread(log.get(), bytes.data(), bytes.size(), 0) >= 0 ? bytes : std::array<unsigned char, 32>{};
}

/// Opens trace and journal so that they belong together. False: they changed meanwhile.
bool open_parts(State& state) {
    Descriptor file = open_trace(state);
    const int64_t size = state.version.bytes;
    const bool write_ahead = state.header[19] == 2; // the format's read version
    int64_t wal_bytes = -1, journal_bytes = 0;
    Descriptor wal = write_ahead ? open_beside(state, "-wal", wal_bytes) : Descriptor();
    Descriptor journal = open_beside(state, "-journal", journal_bytes);
    if (journal) {
        refuse_super_journal(state, journal, journal_bytes);
    }
    // A writer appends to its journal all the time, which does no harm: what is cut off at the end is not committed. But while it
    // works the journal into the trace, the two don't fit together.
    state.being_recorded = is_being_recorded(file.get());
    if ((write_ahead || journal) && is_in_use(file.get())) {
        int64_t room = budget::trace_copy_bytes;
        Descriptor wal_copy = wal ? copy_of(state, wal, wal_bytes, room) : Descriptor();
        Descriptor journal_copy = journal ? copy_of(state, journal, journal_bytes, room) : Descriptor();
        Descriptor copy = copy_of(state, file, size, room);
        const bool begun_again =
            wal && log_header(wal) != log_header(wal_copy); // from its start: the copy may hold some of either
        if (begun_again || FileVersion::of(file.get()) != state.version) {
            return false;
        }
        wal = std::move(wal_copy);
        journal = std::move(journal_copy);
        file = std::move(copy);
    }
    if (FileVersion::of(state.path) != state.version) {
        return false;
    }
    state.has_journal = wal || journal;
    state.beside = wal                            ? TraceFiles::Beside::log
                   : write_ahead && wal_bytes < 0 ? TraceFiles::Beside::gone
                                                  : TraceFiles::Beside::nothing;
    state.bytes = held_bytes(state, file, size) + (wal ? held_bytes(state, wal, wal_bytes) : 0) +
                  (journal ? held_bytes(state, journal, journal_bytes) : 0);
    state.trace.begin(std::move(file), size);
    if (wal) {
        state.wal.begin(std::move(wal), wal_bytes);
    }
    if (journal) {
        state.journal.begin(std::move(journal), journal_bytes);
    }
    return true;
}

// ---- The file system that SQLite sees ----

/// Those that are open, by the number in their names: "/12", "/12-wal", "/12-journal".
class OpenTraces {
public:
    static OpenTraces& all() {
        static OpenTraces traces;
        return traces;
    }
    uint64_t add(State& state) {
        const std::lock_guard lock(mutex_);
        states_.emplace(++last_, &state);
        return last_;
    }
    void remove(uint64_t number) {
        const std::lock_guard lock(mutex_);
        states_.erase(number);
    }
    /// Null: SQLite may know of no such file.
    std::pair<State*, Part*> find(const char* name) {
        const std::string_view text = name == nullptr ? "" : name;
        uint64_t number = 0;
        if (text.empty() || text[0] != '/') {
            return {};
        }
        const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
        const std::string_view suffix = text.substr(end - text.data());
        const std::lock_guard lock(mutex_);
        const auto found = states_.find(number);
        if (error != std::errc() || found == states_.end()) {
            return {};
        }
        State& s = *found->second;
        Part* const part = suffix.empty() ? &s.trace : suffix == "-wal" ? &s.wal : suffix == "-journal" ? &s.journal : nullptr;
        return {part != nullptr ? &s : nullptr, part};
    }

private:
    std::mutex mutex_;
    std::map<uint64_t, State*> states_;
    uint64_t last_ = 0;
};

struct OpenFile {
    sqlite3_file base; ///< first: SQLite knows only this
    State* state;      ///< null: a temporary file
    Part* part;
    Part* own; ///< the temporary file's, else null
};

OpenFile& of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }

/// That SQLite has written to temporary files, of all traces that are open.
std::atomic<int64_t> bytes_to_sort = 0;

std::atomic<int64_t>& written_bytes(const OpenFile& f) { return f.state != nullptr ? f.state->written_bytes : bytes_to_sort; }

int close_file(sqlite3_file* file) {
    if (Part* const own = std::exchange(of(file).own, nullptr)) {
        bytes_to_sort -= own->written.size() * Part::block_bytes;
        delete own;
    }
    return SQLITE_OK;
}

/// Of the file that was opened; false: it has become shorter, or can't be read.
bool read_base(const OpenFile& f, unsigned char* out, int64_t n, int64_t at) {
    while (n > 0) {
        const ssize_t got = pread(f.part->file.get(), out, n, at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            if (got == 0 && f.state != nullptr) {
                f.state->shrank = true;
            }
            return false;
        }
        out += got;
        at += got;
        n -= got;
    }
    return true;
}

int read_file(sqlite3_file* file, void* to, int n, sqlite3_int64 at) {
    const OpenFile& f = of(file);
    if (f.state != nullptr && f.state->stopped()) {
        return SQLITE_INTERRUPT;
    }
    auto* const out = static_cast<unsigned char*>(to);
    const int64_t there = std::clamp<int64_t>(f.part->size - at, 0, n); // the rest is zeros
    const int64_t of_base = std::clamp<int64_t>(f.part->base - at, 0, there);
    if (!read_base(f, out, of_base, at)) {
        return SQLITE_IOERR_READ;
    }
    std::memset(out + of_base, 0, n - of_base);
    if (!f.part->written.empty()) {
        for (int64_t done = 0; done < there;) {
            const int64_t block = (at + done) / Part::block_bytes, within = (at + done) % Part::block_bytes;
            const int64_t count = std::min(Part::block_bytes - within, there - done);
            if (const auto found = f.part->written.find(block); found != f.part->written.end()) {
                std::memcpy(out + done, found->second->data() + within, count);
            }
            done += count;
        }
    }
    return there == n ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

/// The block to be written in, as it was before; null: there is no more room.
Part::Block* block_to_write(const OpenFile& f, int64_t index) {
    if (const auto found = f.part->written.find(index); found != f.part->written.end()) {
        return found->second.get();
    }
    std::atomic<int64_t>& used = written_bytes(f);
    if (used.fetch_add(Part::block_bytes) >= budget::trace_scratch_bytes) {
        used.fetch_sub(Part::block_bytes);
        if (f.state != nullptr) {
            f.state->too_much_written = true;
        }
        return nullptr;
    }
    auto block = std::make_unique<Part::Block>();
    const int64_t of_base = std::clamp<int64_t>(f.part->base - index * Part::block_bytes, 0, Part::block_bytes);
    if (!read_base(f, block->data(), of_base, index * Part::block_bytes)) {
        return nullptr;
    }
    return f.part->written.emplace(index, std::move(block)).first->second.get();
}

int write_file(sqlite3_file* file, const void* from, int n, sqlite3_int64 at) {
    const OpenFile& f = of(file);
    const auto* const in = static_cast<const unsigned char*>(from);
    try {
        for (int64_t done = 0; done < n;) {
            const int64_t within = (at + done) % Part::block_bytes;
            const int64_t count = std::min<int64_t>(Part::block_bytes - within, n - done);
            Part::Block* const block = block_to_write(f, (at + done) / Part::block_bytes);
            if (block == nullptr) {
                return SQLITE_FULL;
            }
            std::memcpy(block->data() + within, in + done, count);
            done += count;
        }
    } catch (const std::bad_alloc&) {
        return SQLITE_IOERR_NOMEM;
    }
    f.part->size = std::max<int64_t>(f.part->size, at + n);
    return SQLITE_OK;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    Part& part = *of(file).part;
    part.size = size;
    part.base = std::min<int64_t>(part.base, size);
    const size_t n_erased =
        std::erase_if(part.written, [&](const auto& entry) { return entry.first * Part::block_bytes >= size; });
    written_bytes(of(file)) -= n_erased * Part::block_bytes;
    if (const auto last = part.written.find(size / Part::block_bytes); last != part.written.end()) {
        const int64_t kept = size % Part::block_bytes;
        std::memset(last->second->data() + kept, 0, Part::block_bytes - kept);
    }
    return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
    *size = of(file).part->size;
    return SQLITE_OK;
}

int not_locked(sqlite3_file*, int* locked) {
    *locked = 0;
    return SQLITE_OK;
}

int characteristics(sqlite3_file* file) {
    const OpenFile& f = of(file);
    return f.state != nullptr && !f.state->has_journal ? SQLITE_IOCAP_IMMUTABLE : 0;
}

// Version 1: no shared memory, so that a journal's index lies in this process alone; no mapping, since a file that shrinks would
// be a fault instead of an error.
const sqlite3_io_methods io_methods{
    1,
    close_file,
    read_file,
    write_file,
    truncate_file,
    [](sqlite3_file*, int) { return SQLITE_OK; }, // sync
    file_size,
    [](sqlite3_file*, int) { return SQLITE_OK; }, // lock
    [](sqlite3_file*, int) { return SQLITE_OK; }, // unlock
    not_locked,
    [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }, // file control
    [](sqlite3_file*) { return 4096; },                        // sector size
    characteristics,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
    OpenFile& f = of(file);
    f = {};
    if (name == nullptr) {
        f.own = f.part = new (std::nothrow) Part;
        if (f.own == nullptr) {
            return SQLITE_NOMEM;
        }
    } else {
        std::tie(f.state, f.part) = OpenTraces::all().find(name);
        if (f.part == nullptr || (!f.part->exists && (flags & SQLITE_OPEN_CREATE) == 0)) {
            return SQLITE_CANTOPEN;
        }
    }
    f.part->exists = true;
    f.base.pMethods = &io_methods;
    if (opened != nullptr) {
        *opened = flags;
    }
    return SQLITE_OK;
}

int delete_file(sqlite3_vfs*, const char* name, int) {
    Part* const part = OpenTraces::all().find(name).second;
    if (part == nullptr || !part->exists) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    part->clear();
    part->exists = false;
    return SQLITE_OK;
}

int is_there(sqlite3_vfs*, const char* name, int, int* there) {
    const Part* const part = OpenTraces::all().find(name).second;
    *there = part != nullptr && part->exists ? 1 : 0;
    return SQLITE_OK;
}

int whole_name(sqlite3_vfs*, const char* name, int n, char* out) {
    const size_t length = std::strlen(name);
    if (length >= static_cast<size_t>(n)) {
        return SQLITE_CANTOPEN;
    }
    std::memcpy(out, name, length + 1);
    return SQLITE_OK;
}

constexpr const char* vfs_name = "schedscope-trace";

/// Time and chance are the system's.
sqlite3_vfs* system_of(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

bool register_file_system() {
    static sqlite3_vfs vfs{};
    vfs.iVersion = 2;
    vfs.szOsFile = sizeof(OpenFile);
    vfs.mxPathname = 64;
    vfs.zName = vfs_name;
    vfs.pAppData = sqlite3_vfs_find(nullptr);
    vfs.xOpen = open_file;
    vfs.xDelete = delete_file;
    vfs.xAccess = is_there;
    vfs.xFullPathname = whole_name;
    vfs.xRandomness = [](sqlite3_vfs* v, int n, char* out) { return system_of(v)->xRandomness(system_of(v), n, out); };
    vfs.xSleep = [](sqlite3_vfs* v, int us) { return system_of(v)->xSleep(system_of(v), us); };
    vfs.xCurrentTime = [](sqlite3_vfs* v, double* t) { return system_of(v)->xCurrentTime(system_of(v), t); };
    vfs.xCurrentTimeInt64 = [](sqlite3_vfs* v, sqlite3_int64* t) { return system_of(v)->xCurrentTimeInt64(system_of(v), t); };
    vfs.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

} // namespace

const char* TraceFiles::file_system() {
    static const bool registered = register_file_system();
    return registered ? vfs_name : nullptr;
}

TraceFiles::TraceFiles(std::unique_ptr<State> state) : state_(std::move(state)) {
    state_->number = OpenTraces::all().add(*state_);
}

TraceFiles::~TraceFiles() { OpenTraces::all().remove(state_->number); }

std::shared_ptr<TraceFiles> TraceFiles::open(const std::string& path, Stop stop) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->stop = std::move(stop);
    constexpr int attempts = 20;
    for (int i = 0; !open_parts(*state); ++i) {
        if (i == attempts) {
            refuse(path, "is being written faster than it can be copied; try again when the recording is done");
        }
    }
    return std::shared_ptr<TraceFiles>(new TraceFiles(std::move(state)));
}

const std::string& TraceFiles::path() const noexcept { return state_->path; }
bool TraceFiles::has_journal() const noexcept { return state_->has_journal; }
TraceFiles::Beside TraceFiles::beside() const noexcept { return state_->beside; }
bool TraceFiles::being_recorded() const noexcept { return state_->being_recorded; }
int64_t TraceFiles::bytes() const noexcept { return state_->bytes; }
FileVersion TraceFiles::version() const noexcept { return state_->version; }
const std::array<unsigned char, 100>& TraceFiles::header() const noexcept { return state_->header; }
std::string TraceFiles::address() const { return "/" + std::to_string(state_->number); }
bool TraceFiles::stopped() const { return state_->stopped(); }

std::string TraceFiles::trouble() const {
    if (state_->shrank) {
        return "became shorter while it was read";
    }
    return state_->too_much_written
               ? "has a journal that takes more than " + words::limit(budget::trace_scratch_bytes) + " to roll back or replay"
               : std::string();
}

} // namespace schedscope
