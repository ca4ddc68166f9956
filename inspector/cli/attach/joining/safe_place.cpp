#include "inspector/cli/attach/joining/safe_place.h"

#include "runtime/system/files.h"

#include <algorithm>
#include <filesystem>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace schedscope {

namespace {

namespace fs = std::filesystem;

/// And our own library, which a thread that calls it may be within: it has locks, too.
bool is_system_name(std::string_view name) {
    constexpr std::array<std::string_view, 9> names = {
        "libc.so", "libc-2.", "ld-linux", "ld-2.", "libpthread", "libdl.so", "libdl-2.", "ld64.so", "memfd:libschedscope"};
    return std::any_of(names.begin(), names.end(), [&](std::string_view begin) { return name.starts_with(begin); });
}

std::string task_path(pid_t process, pid_t thread, const std::string& what) {
    return proc_path(process, "task/" + std::to_string(thread) + "/" + what);
}

} // namespace

SafePlaces::SafePlaces(const OtherProcess& process) : process_(process) {
    for (const LoadedFile& file : process.files()) {
        if (!is_system_name(file.name())) {
            const bool loader = file.name().starts_with("ld-");
            own_allocator_ = own_allocator_ || (!loader && process.function(file, "malloc").has_value());
            continue;
        }
        system_.push_back(file);
        if (file.name().starts_with("libc") && process.function(file, "gnu_get_libc_version")) {
            libc_ = file;
        }
    }
    if (libc_) {
        end_of_handler_ = process.find_code(*libc_, machine::end_of_handler);
        lists_objects_ = process.function(*libc_, "dl_iterate_phdr").value_or(FoundFunction());
    }
}

bool SafePlaces::is_system(uintptr_t address) const {
    return std::any_of(system_.begin(), system_.end(), [&](const LoadedFile& file) { return file.holds(address); });
}

uintptr_t SafePlaces::function(std::string_view name) const {
    for (const LoadedFile& file : system_) {
        const auto found = file.name().starts_with("lib") ? process_.function(file, name) : std::nullopt;
        if (found) {
            return found->at;
        }
    }
    return 0;
}

/// Neither the allocator nor the loader makes these calls, or not so.
bool SafePlaces::waits_outside(int call, const machine::Arguments& arguments, pid_t id) const {
    switch (call) {
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_pause:
    case SYS_accept:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_rt_sigtimedwait:
    case SYS_rt_sigsuspend: return true;
    case SYS_futex: {
        const auto operation = static_cast<int>(arguments[1]) & FUTEX_CMD_MASK;
        return operation == FUTEX_WAIT_BITSET || (operation == FUTEX_WAIT && static_cast<uint32_t>(arguments[2]) != contended);
    }
    case SYS_read: { // files are the loader's, too
        std::error_code failed;
        const std::string path = task_path(process_.id(), id, "fd/" + std::to_string(static_cast<int>(arguments[0])));
        const std::string what = fs::read_symlink(path, failed).string();
        return what.starts_with("pipe:") || what.starts_with("socket:") || what.starts_with("anon_inode:") ||
               what.starts_with("/dev/pts/") || what.starts_with("/dev/tty");
    }
    default: return false;
    }
}

std::vector<pid_t> SafePlaces::threads() const {
    std::vector<pid_t> waiting, others;
    for (const std::string& task : names_in(proc_path(process_.id(), "task"))) {
        const pid_t id = std::atoi(task.c_str()); // NOLINT: the kernel's own names
        const SystemCall call = system_call_of(process_.id(), id);
        (waits_outside(call.number, call.arguments, id) ? waiting : others).push_back(id);
    }
    waiting.insert(waiting.end(), others.begin(), others.end());
    return waiting;
}

/// A handler may have interrupted the allocator; a function that the loader called has to return to it.
bool SafePlaces::within_handler_or_loader(uintptr_t stack) const {
    constexpr size_t near = 4096, far = 1 << 16;
    const MappedRange* const range = process_.range_of(stack);
    if (range == nullptr) {
        return true;
    }
    const uintptr_t begin = (stack + 7) & ~uintptr_t{7};
    std::vector<uintptr_t> words(std::min<size_t>(range->end - begin, far) / sizeof(uintptr_t));
    if (!process_.read(begin, std::as_writable_bytes(std::span(words)))) {
        return true;
    }
    for (size_t i = 0; i < words.size(); ++i) {
        const bool returns_to_loader = words[i] > lists_objects_.at && words[i] < lists_objects_.at + lists_objects_.bytes;
        if (returns_to_loader && i * sizeof(uintptr_t) < near) {
            return true;
        }
        if (words[i] == end_of_handler_ && end_of_handler_ != 0) {
            const auto interrupted = process_.read<uintptr_t>(begin + i * sizeof(uintptr_t) + machine::interrupted_place);
            if (machine::interrupted_place == 0 || !interrupted || is_system(*interrupted)) {
                return true;
            }
        }
    }
    return false;
}

bool SafePlaces::is_safe(const StoppedThread& thread, pid_t id) const {
    const machine::Registers& r = thread.registers();
    const uintptr_t place = machine::place(r);
    const int call = machine::called(r, process_.read<uint32_t>(place).value_or(0));
    if (within_handler_or_loader(machine::stack(r))) {
        return false;
    }
    if (call != machine::no_call && waits_outside(call, machine::arguments(r), id)) {
        return true;
    }
    // Code of the program's own holds no lock of the C library's, as long as the allocator is that library's.
    const MappedRange* const range = process_.range_of(place);
    const bool kernels = range == nullptr || range->path.starts_with("[v");
    return !own_allocator_ && !kernels && range->executable && !is_system(place);
}

} // namespace schedscope
