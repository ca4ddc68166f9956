// The library takes itself out of the environment, so that what the program starts runs without it. A program that becomes
// another one (a script's interpreter, `env`) is still the process that was to be recorded: there it is put in again.

#include "traces/attach/handing_on.h"

#include "traces/attach/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace schedscope::attach {

namespace {

constexpr const char* preload = "LD_PRELOAD";

Attachment attached;
char own_value[128], own_path[4096], whole_preload[8192]; ///< of the variables, as they were
long root_process = 0;
pid_t self = 0;

size_t copied(char* to, size_t bytes, const char* from) {
    const size_t n = strlen(from);
    if (n >= bytes) {
        return 0;
    }
    memcpy(to, from, n + 1);
    return n;
}

/// "PATH:ROOT:OPTIONS"
bool parse(const char* value) {
    const char* const colon = strchr(value, ':');
    const size_t n = colon == nullptr ? 0 : static_cast<size_t>(colon - value);
    if (n == 0 || n >= sizeof attached.path || copied(own_value, sizeof own_value, value) == 0) {
        return false;
    }
    memcpy(attached.path, value, n);
    char* end = nullptr;
    root_process = strtol(colon + 1, &end, 10);
    attached.sync = strchr(end, option_sync) != nullptr;
    attached.children = strchr(end, option_children) != nullptr;
    return true;
}

/// Our own entry, the first, out of the list of LD_PRELOAD.
void leave_environment() {
    unsetenv(environment_name);
    const char* const list = getenv(preload);
    if (list == nullptr || copied(whole_preload, sizeof whole_preload, list) == 0) {
        return;
    }
    const size_t n = strcspn(whole_preload, ": ");
    memcpy(own_path, whole_preload, n < sizeof own_path ? n : 0);
    const char* const rest = whole_preload + n + (whole_preload[n] != 0 ? 1 : 0);
    if (rest[0] == 0) {
        unsetenv(preload);
    } else {
        setenv(preload, rest, 1);
    }
}

__attribute__((constructor)) void enter() {
    const char* const value = getenv(environment_name);
    if (value == nullptr || getauxval(AT_SECURE) != 0 || !parse(value)) {
        return;
    }
    self = getpid();
    if (!attached.children) {
        leave_environment();
        if (self != root_process) {
            return;
        }
    }
    const int fd = open(attached.path, O_RDWR | O_CLOEXEC);
    void* const page = fd < 0 ? MAP_FAILED : mmap(nullptr, control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) {
        close(fd);
    }
    if (page == MAP_FAILED) {
        return;
    }
    auto* const control = static_cast<Control*>(page);
    if (control->mark != control_mark) {
        munmap(page, control_bytes);
        return;
    }
    __atomic_fetch_add(&control->loaded, 1, __ATOMIC_RELAXED);
    attached.control = control;
}

/// The environment of the program that this process becomes.
/// (Where the stream is taken already, nothing of what this process becomes could write to it.)
class HandedOn {
public:
    explicit HandedOn(char* const* environment) : environment_(environment) {
        if (attached.control == nullptr || attached.children || getpid() != self ||
            __atomic_load_n(&attached.control->owner, __ATOMIC_RELAXED) != 0) {
            return;
        }
        size_t n = 0;
        while (environment != nullptr && environment[n] != nullptr) {
            ++n;
        }
        bytes_ = (n + 3) * sizeof(char*);
        void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            return;
        }
        list_ = static_cast<char**>(memory);
        const char* others = nullptr;
        size_t used = 0;
        for (size_t i = 0; i < n; ++i) {
            if (strncmp(environment[i], "LD_PRELOAD=", 11) == 0) {
                others = environment[i] + 11;
            } else {
                list_[used++] = environment[i];
            }
        }
        snprintf(variable_, sizeof variable_, "%s=%s", environment_name, own_value);
        snprintf(preload_, sizeof preload_, "LD_PRELOAD=%s%s%s", own_path, others == nullptr ? "" : ":",
                 others == nullptr ? "" : others);
        list_[used++] = variable_;
        list_[used] = preload_;
    }
    ~HandedOn() {
        if (list_ != nullptr) {
            munmap(list_, bytes_);
        }
    }
    HandedOn(const HandedOn&) = delete;
    HandedOn& operator=(const HandedOn&) = delete;
    char* const* get() const { return list_ != nullptr ? list_ : environment_; }

private:
    char* const* environment_;
    char** list_ = nullptr;
    size_t bytes_ = 0;
    char variable_[192] = {}, preload_[8192] = {};
};

/// `become(function, environment)` with the function that the caller meant, of type F, and the environment that is handed on.
template <typename F, typename B> int exec_by(Fn which, void* caller, char* const* environment, const B& become) {
    auto* const real = reinterpret_cast<F*>(real_function(which, caller));
    if (real == nullptr) {
        errno = ENOSYS;
        return -1;
    }
    const HandedOn handed(environment);
    return become(real, handed.get());
}

int exec_with(Fn which, void* caller, const char* file, char* const* arguments, char* const* environment) {
    return exec_by<int(const char*, char* const*, char* const*)>(
        which, caller, environment, [&](auto* real, char* const* handed) { return real(file, arguments, handed); });
}

/// Arguments one by one, as execl and its like are given them: how many there are behind the first, and where they go.
int n_listed(va_list list) {
    int n = 0;
    while (va_arg(list, char*) != nullptr) {
        ++n;
    }
    return n;
}
void collect(const char* first, va_list* list, char** to) {
    *to = const_cast<char*>(first); // NOLINT: as they are given to main
    while (*to != nullptr) {
        *++to = va_arg(*list, char*);
    }
}
/// What stands behind the list of arguments is left in it. A macro, because the list is on the caller's stack.
#define SCHEDSCOPE_ARGUMENTS(first, list)                                                                                        \
    va_list list;                                                                                                                \
    va_start(list, first);                                                                                                       \
    const int n_##list = (first) == nullptr ? 0 : n_listed(list) + 1;                                                            \
    va_end(list);                                                                                                                \
    auto** const arguments = static_cast<char**>(__builtin_alloca((static_cast<size_t>(n_##list) + 1) * sizeof(char*)));         \
    va_start(list, first);                                                                                                       \
    collect(first, &(list), arguments)

} // namespace

const Attachment& attachment() { return attached; }

bool attach_to(int file, bool sync) {
    static void* own_page = nullptr; // of the time before this one
    void* const page =
        mmap(own_page, control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (own_page != nullptr ? MAP_FIXED : 0), file, 0);
    if (page == MAP_FAILED) {
        return false;
    }
    own_page = page;
    self = getpid();
    attached.control = static_cast<Control*>(page);
    attached.sync = sync;
    attached.joined = true;
    snprintf(attached.path, sizeof attached.path, "/proc/self/fd/%d", file);
    if (attached.control->mark != control_mark) {
        let_control_go();
        return false;
    }
    __atomic_fetch_add(&attached.control->loaded, 1, __ATOMIC_RELAXED);
    return true;
}

void let_control_go() {
    // Where the system has no memory left the shared page stays, which is not looked at any more.
    static_cast<void>(
        mmap(attached.control, control_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

extern "C" {

SCHEDSCOPE_EXPORTED int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
    return exec_with(Fn::execve, __builtin_return_address(0), path, arguments, environment);
}
SCHEDSCOPE_EXPORTED int execv(const char* path, char* const* arguments) noexcept {
    return exec_with(Fn::execve, __builtin_return_address(0), path, arguments, environ);
}
SCHEDSCOPE_EXPORTED int execvp(const char* file, char* const* arguments) noexcept {
    return exec_with(Fn::execvpe, __builtin_return_address(0), file, arguments, environ);
}
SCHEDSCOPE_EXPORTED int execl(const char* path, const char* first, ...) noexcept {
    SCHEDSCOPE_ARGUMENTS(first, list);
    va_end(list);
    return exec_with(Fn::execve, __builtin_return_address(0), path, arguments, environ);
}
SCHEDSCOPE_EXPORTED int execlp(const char* file, const char* first, ...) noexcept {
    SCHEDSCOPE_ARGUMENTS(first, list);
    va_end(list);
    return exec_with(Fn::execvpe, __builtin_return_address(0), file, arguments, environ);
}
SCHEDSCOPE_EXPORTED int execle(const char* path, const char* first, ...) noexcept {
    SCHEDSCOPE_ARGUMENTS(first, list);
    char* const* const environment = va_arg(list, char* const*);
    va_end(list);
    return exec_with(Fn::execve, __builtin_return_address(0), path, arguments, environment);
}
SCHEDSCOPE_EXPORTED int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
    return exec_with(Fn::execvpe, __builtin_return_address(0), file, arguments, environment);
}
SCHEDSCOPE_EXPORTED int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
    return exec_by<int(int, char* const*, char* const*)>(
        Fn::fexecve, __builtin_return_address(0), environment,
        [&](auto* real, char* const* handed) { return real(file, arguments, handed); });
}
SCHEDSCOPE_EXPORTED int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
                                 int flags) noexcept {
    return exec_by<int(int, const char*, char* const*, char* const*, int)>(
        Fn::execveat, __builtin_return_address(0), environment,
        [&](auto* real, char* const* handed) { return real(folder, path, arguments, handed, flags); });
}

} // extern "C"

} // namespace schedscope::attach
