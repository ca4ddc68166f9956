#include "inspector/cli/attach/joining/join_process.h"

#include "inspector/cli/attach/joining/safe_place.h"
#include "inspector/cli/attach/joining/why_not_joined.h"
#include "runtime/error.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope {

namespace {

constexpr std::string_view library_memory = "/memfd:libschedscope_attach.so"; ///< as the process's list of memory has it
constexpr const char* library_memory_name = "libschedscope_attach.so";
constexpr std::chrono::seconds patience(5); ///< until a thread is found where it may be held

/// Between this process and the one that holds the thread.
struct Report {
    enum What : int { shared, done, busy, failed } what; ///< busy: it may be asked again
    int number;                                          ///< shared: the descriptor there; done: calls that lead to the library
    uint64_t library;
    std::array<char, 1024> words;
};

/// A thing that can't be done, for the one line.
struct Refused {
    std::string why;
};

std::vector<std::byte> bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// Is this loaded file the library that these are the bytes of? What is only read of it is as it was in the file.
bool is_same_library(const OtherProcess& process, const LoadedFile& file, std::span<const std::byte> bytes) {
    ElfW(Ehdr) header = {};
    if (bytes.size() < sizeof header) {
        return false;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    for (size_t i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) part = {};
        const size_t at = header.e_phoff + i * sizeof part;
        if (at + sizeof part > bytes.size()) {
            return false;
        }
        std::memcpy(&part, bytes.data() + at, sizeof part);
        if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0 || part.p_offset + part.p_filesz > bytes.size()) {
            continue;
        }
        std::vector<std::byte> there(part.p_filesz);
        if (!process.read(file.base + part.p_vaddr, there) ||
            !std::equal(there.begin(), there.end(), bytes.begin() + static_cast<ptrdiff_t>(part.p_offset))) {
            return false;
        }
    }
    return true;
}

/// One thread of a process, held at a place where it may call the loader, and what it is made to do there.
class Guest {
public:
    explicit Guest(pid_t id) : process_(id) {}

    /// Throws Refused.
    void enter() {
        if (!process_.look()) {
            throw Refused{why_not_seen(process_.id(), errno)};
        }
        places_.emplace(process_);
        if (!places_->libc()) {
            throw Refused{"its C library is not glibc, which schedscope's library needs"};
        }
        instruction_ = process_.find_code(*places_->libc(), machine::system_call);
        hold();
        errno_ = call("__errno_location");
        errno_before_ = process_.read<int>(errno_).value_or(0);
    }

    /// Memory to work in; all of it is given back.
    void make_room() {
        code_ = map(page, PROT_READ | PROT_EXEC);
        work_ = map(work_bytes, PROT_READ | PROT_WRITE);
        if (!process_.write(code_, machine::stub)) {
            throw Refused{"its memory can't be written"};
        }
    }

    void leave() {
        if (!thread_) {
            return;
        }
        if (errno_ != 0) {
            process_.write(errno_, std::as_bytes(std::span(&errno_before_, 1)));
        }
        if (work_ != 0) {
            system(SYS_munmap, {work_, work_bytes});
        }
        if (code_ != 0) {
            system(SYS_munmap, {code_, page});
        }
        thread_->let_go();
        thread_.reset();
    }
    ~Guest() { leave(); }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    OtherProcess& process() { return process_; }
    uintptr_t work() const { return work_; } ///< a page of it

    long system(long number, const machine::Arguments& arguments) {
        return thread_->call_system(instruction_, number, arguments);
    }
    /// A descriptor of memory without a name in any folder.
    int make_memory(const std::string& name, unsigned flags) {
        put(name);
        const long made = system(SYS_memfd_create, {work_, flags});
        return static_cast<int>(made);
    }
    void put(const std::string& text) { process_.write(work_, std::as_bytes(std::span(text.c_str(), text.size() + 1))); }
    uint64_t call(uintptr_t function, const machine::Arguments& arguments = {}) {
        const std::optional<uint64_t> result = thread_->call_function(code_, work_ + work_bytes, function, arguments);
        if (!result) {
            throw Refused{
                "a thread of it did not come back from a call in time; another one may hold the loader's lock: try again"};
        }
        return *result;
    }
    uint64_t call(std::string_view name, const machine::Arguments& arguments = {}) {
        const uintptr_t function = places_->function(name);
        if (function == 0) {
            throw Refused{"its C library has no " + std::string(name)};
        }
        return call(function, arguments);
    }
    uintptr_t find(std::string_view name) const { return places_->function(name); } ///< 0: there is none

    static constexpr size_t page = 4096, work_bytes = size_t{1} << 20;

private:
    uintptr_t map(size_t bytes, int protection) {
        const long at =
            system(SYS_mmap, {0, bytes, static_cast<uint64_t>(protection), MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}, 0});
        if (at < 0 && at > -static_cast<long>(page)) {
            throw Refused{"it gets no memory: " + std::string(std::strerror(static_cast<int>(-at)))};
        }
        return static_cast<uintptr_t>(at);
    }

    void hold() {
        bool stopped_by_others = false;
        const auto begin = std::chrono::steady_clock::now();
        for (const auto until = begin + patience; std::chrono::steady_clock::now() < until;) {
            for (const pid_t id : places_->threads()) {
                thread_.emplace(process_, id);
                const StoppedThread::Stop stop = thread_->stop();
                constexpr std::chrono::seconds at_work(2); // another schedscope's helper, which outlives it, is soon done
                if (stop == StoppedThread::Stop::refused &&
                    (!is_traced(process_.id()) || std::chrono::steady_clock::now() - begin > at_work)) {
                    throw Refused{why_not_traced(process_.id(), errno)};
                }
                stopped_by_others = stopped_by_others || stop == StoppedThread::Stop::stopped_by_others;
                process_.look(); // code that was loaded since, stacks that grew
                if (stop == StoppedThread::Stop::stopped && places_->is_safe(*thread_, id)) {
                    make_room();
                    return;
                }
                thread_.reset();
            }
            if (stopped_by_others) {
                throw Refused{"it is stopped; let it go on first: kill -CONT " + std::to_string(process_.id())};
            }
            if (!process_.look()) {
                throw Refused{"it has ended"};
            }
            usleep(500);
        }
        throw Refused{"none of its threads came to a place where the loader may be called, within " +
                      std::to_string(patience.count()) + " s; try again"};
    }

    OtherProcess process_;
    std::optional<SafePlaces> places_;
    std::optional<StoppedThread> thread_;
    uintptr_t instruction_ = 0, code_ = 0, work_ = 0, errno_ = 0;
    int errno_before_ = 0;
};

const LoadedFile* library_in(const OtherProcess& process, std::span<const std::byte> bytes) {
    for (const LoadedFile& file : process.files()) {
        if (file.path.starts_with(library_memory) && is_same_library(process, file, bytes)) {
            return &file;
        }
    }
    return nullptr;
}

int checked(long number, const char* what) {
    if (number < 0) {
        throw Refused{std::string(what) + ": " + std::strerror(static_cast<int>(-number))};
    }
    return static_cast<int>(number);
}

/// Writes the library into memory of the process, and has its loader take it from there.
void load(Guest& guest, std::span<const std::byte> bytes) {
    constexpr unsigned may_be_executed = 0x10; // MFD_EXEC, which older kernels don't know
    int file = guest.make_memory(library_memory_name, MFD_CLOEXEC | may_be_executed);
    file = file == -EINVAL ? guest.make_memory(library_memory_name, MFD_CLOEXEC) : file;
    checked(file, "it gets no memory for the library");
    const std::string there = proc_path(guest.process().id(), "fd/" + std::to_string(file));
    {
        const Descriptor to(open(there.c_str(), O_WRONLY | O_CLOEXEC));
        if (!to || !write_all(to.get(), bytes)) {
            throw Refused{"the library can't be written into its memory: " + std::string(std::strerror(errno))};
        }
    }
    const uintptr_t own = guest.find("dlopen");
    constexpr uint64_t called_by_libc = 0x80000000;
    guest.put("/proc/self/fd/" + std::to_string(file));
    const uint64_t handle = own != 0 ? guest.call(own, {guest.work(), RTLD_NOW})
                                     : guest.call("__libc_dlopen_mode", {guest.work(), RTLD_NOW | called_by_libc});
    const uintptr_t explain = handle == 0 ? guest.find("dlerror") : 0;
    const uint64_t words = explain == 0 ? 0 : guest.call(explain);
    guest.system(SYS_close, {static_cast<uint64_t>(file)});
    if (handle == 0) {
        throw Refused{"its loader does not take the library: " +
                      (words == 0 ? "it is loaded by itself" : guest.process().text(words, 512))};
    }
    guest.process().look();
}

void send(int to, const Report& report) { [[maybe_unused]] const ssize_t n = ::write(to, &report, sizeof report); }

/// In the process that holds the thread.
Report join(pid_t id, int talk, const std::vector<std::byte>& bytes, const AttachOptions& options) {
    Guest guest(id);
    guest.enter();
    if (library_in(guest.process(), bytes) == nullptr) {
        load(guest, bytes);
    }
    const LoadedFile* const library = library_in(guest.process(), bytes);
    const auto begin = library == nullptr ? std::nullopt : guest.process().function(*library, attach::join_name);
    if (!begin) {
        throw Refused{"the library is not where its loader put it"};
    }
    const int shared = checked(guest.make_memory("schedscope", MFD_CLOEXEC), "it gets no memory to share");
    send(talk, {Report::shared, shared, 0, {}});
    if (char go = 0; ::read(talk, &go, 1) != 1) { // whoever asked is gone
        guest.system(SYS_close, {static_cast<uint64_t>(shared)});
        throw Refused{""};
    }
    attach::Join order = {};
    order.file = shared;
    order.sync = options.sync ? 1 : 0;
    guest.process().write(guest.work(), std::as_bytes(std::span(&order, 1)));
    const bool failed = guest.call(begin->at, {guest.work()}) != 0;
    order = guest.process().read<attach::Join>(guest.work()).value_or(order);
    if (failed) {
        order.why[attach::reason_bytes - 1] = 0;
        if (order.busy != 0) {
            Report report = {Report::busy, 0, 0, {}};
            std::string_view(order.why).copy(report.words.data(), report.words.size() - 1);
            return report;
        }
        throw Refused{order.why};
    }
    return {Report::done, order.calls, library->inode, {}};
}

Report leave(pid_t id, uint64_t library) {
    Guest guest(id);
    guest.enter();
    for (const LoadedFile& file : guest.process().files()) {
        const auto end = file.inode == library && file.path.starts_with(library_memory)
                             ? guest.process().function(file, attach::leave_name)
                             : std::nullopt;
        if (end) {
            guest.call(end->at);
        }
    }
    return {Report::done, 0, library, {}};
}

/// Another process of ours does it, which outlives this one if that is killed: a thread that is held is always let go.
template <typename F> class Helper {
public:
    explicit Helper(const F& work) {
        std::array<int, 2> ends = {-1, -1};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            throw Error(ErrorKind::device, "a socket: " + std::string(std::strerror(errno)));
        }
        own_ = Descriptor(ends[0]);
        Descriptor other(ends[1]);
        sigset_t all{}, before{};
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, &before);
        id_ = fork();
        if (id_ == 0) {
            own_.close();
            setsid();
            run(work, other.get());
        }
        sigprocmask(SIG_SETMASK, &before, nullptr);
        if (id_ < 0) {
            throw Error(ErrorKind::device, "a process: " + std::string(std::strerror(errno)));
        }
    }
    ~Helper() {
        own_.close();
        while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {}
    }
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

    Report next() {
        Report report = {Report::failed, 0, 0, {}};
        size_t n = 0;
        while (n < sizeof report) {
            const ssize_t got = ::read(own_.get(), reinterpret_cast<char*>(&report) + n, sizeof report - n);
            if (got <= 0 && errno == EINTR && got < 0) {
                continue;
            }
            if (got <= 0) {
                return {Report::failed, 0, 0, {"the process that holds it has ended"}};
            }
            n += static_cast<size_t>(got);
        }
        return report;
    }
    void go_on() { [[maybe_unused]] const ssize_t n = ::write(own_.get(), "g", 1); }

private:
    [[noreturn]] static void run(const F& work, int talk) {
        Report report = {Report::failed, 0, 0, {}};
        try {
            report = work(talk);
        } catch (const Refused& refused) {
            refused.why.copy(report.words.data(), report.words.size() - 1);
        } catch (const std::exception& error) {
            std::string_view(error.what()).copy(report.words.data(), report.words.size() - 1);
        }
        send(talk, report);
        _exit(0);
    }
    Descriptor own_;
    pid_t id_ = -1;
};

[[noreturn]] void refuse(pid_t id, const std::string& why) {
    throw Error(ErrorKind::device, "process " + std::to_string(id) + ": " + visible(why));
}

} // namespace

JoinedProcess::JoinedProcess(pid_t id, const AttachOptions& options) : id_(id) {
    process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0))); // first: what looks strange then may be its end
    const auto fail = [this](const std::string& why) { refuse(id_, process_ && wait_for_end(0) ? "it has ended" : why); };
    if (const std::string why = why_not_joined(id); !why.empty()) {
        fail(why);
    }
    const std::vector<std::byte> bytes = bytes_of(SharedPages::library_path());
    const auto attempt = [&] {
        Helper helper([&](int talk) { return join(id, talk, bytes, options); });
        Report report = helper.next();
        if (report.what == Report::shared) {
            const std::string there = proc_path(id, "fd/" + std::to_string(report.number));
            Descriptor file(open(there.c_str(), O_RDWR | O_CLOEXEC));
            if (!file) {
                fail("the memory to share can't be opened: " + std::string(std::strerror(errno)));
            }
            pages_ = std::make_unique<SharedPages>(std::move(file));
            helper.go_on();
            report = helper.next();
        }
        return report;
    };
    constexpr int most_tries = 100, pause_ms = 20; // together what a computation may take
    const Report report = try_while_busy(
        attempt, [](const Report& r) { return r.what == Report::busy; }, [&] { return !wait_for_end(pause_ms); }, most_tries);
    if (report.what != Report::done || pages_ == nullptr) {
        fail(report.words.data());
    }
    calls_ = report.number;
    library_ = report.library;
}

bool JoinedProcess::wait_for_end(int timeout_ms) const {
    pollfd watched{process_.get(), POLLIN, 0}; // of no descriptor it waits for the time alone
    return poll(&watched, 1, timeout_ms) > 0 || (!process_ && kill(id_, 0) != 0);
}

bool JoinedProcess::is_there() const {
    if (wait_for_end(0)) {
        return false;
    }
    std::ifstream list(proc_path(id_, "maps"));
    for (std::string line; std::getline(list, line);) {
        if (line.find(library_memory) != std::string::npos) {
            return true;
        }
    }
    return false;
}

std::string JoinedProcess::leave() const {
    Helper helper([&](int) { return schedscope::leave(id_, library_); });
    const Report report = helper.next();
    return report.what == Report::done || !is_there() ? "" : visible(report.words.data());
}

} // namespace schedscope
