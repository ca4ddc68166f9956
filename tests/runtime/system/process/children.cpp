// What the test program does as a child of its own: things that a sandbox is to stop, in one.
#include "tests/runtime/system/process/children.h"

#include "runtime/system/process/kernel_filters.h"
#include "runtime/system/process/program_role.h"
#include "runtime/system/process/sandbox.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

// AddressSanitizer would report a call that the kernel lacks and exit, where without it a signal ends the child.
extern "C" const char* __asan_default_options() { return "handle_segv=0"; } // NOLINT(bugprone-reserved-identifier)

namespace schedscope::test {
namespace {

bool fails(long result) { return result < 0; }

/// Whether it failed, with errno.
const std::map<std::string_view, bool (*)()> attempts{
    {"open a file", [] { return fails(open("/proc/self/exe", O_RDONLY)); }},
    {"open a file for writing", [] { return fails(open("/dev/null", O_WRONLY)); }},
    {"open a file for both", [] { return fails(open("/dev/null", O_RDWR)); }},
    {"empty a file", [] { return fails(open("/dev/null", O_RDONLY | O_TRUNC)); }},
    {"make a file", [] { return fails(open("made-in-a-sandbox", O_WRONLY | O_CREAT, 0600)); }},
    {"make a folder", [] { return fails(mkdir("made-in-a-sandbox", 0700)); }},
    {"remove a file", [] { return fails(unlink("made-in-a-sandbox")); }},
    {"make a memory file", [] { return fails(memfd_create("x", 0)); }},
    {"make a socket", [] { return fails(socket(AF_INET, SOCK_STREAM, 0)); }},
    {"make a pair of sockets",
     [] {
         std::array<int, 2> pair{};
         return fails(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()));
     }},
    {"start another program",
     [] {
         std::array<char*, 1> none{};
         return fails(execve("/bin/true", none.data(), none.data()));
     }},
    {"fork",
     [] {
         const pid_t child = fork();
         if (child == 0) {
             _exit(0);
         }
         return fails(child);
     }},
    {"start a thread",
     [] {
         try {
             std::thread([] {}).join();
         } catch (const std::system_error& e) {
             errno = e.code().value();
             return true;
         }
         return false;
     }},
    {"trace its parent", [] { return fails(ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr)); }},
    {"send its parent a signal", [] { return fails(kill(getppid(), 0)); }},
    {"send a thread of its parent a signal", [] { return fails(syscall(SYS_tgkill, getppid(), getppid(), 0)); }},
    {"take more",
     [] {
         const rlimit most{RLIM_INFINITY, RLIM_INFINITY};
         return fails(setrlimit(RLIMIT_AS, &most));
     }},
    {"make code", [] { return mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED; }},
    {"make code of data",
     [] {
         void* data = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         return fails(mprotect(data, 4096, PROT_READ | PROT_EXEC));
     }},
    {"make a call of another architecture",
     [] {
#if defined(__x86_64__)
         long result = 20; // getpid there
         asm volatile("int $0x80" : "+a"(result) : : "memory");
         return fails(result);
#else
         return fails(raise(SIGSYS));
#endif
     }},
    {"abort", [] { return fails(raise(SIGABRT)); }},
    {"find a descriptor", [] { return fails(fcntl(3, F_GETFD)) && fails(fcntl(7, F_GETFD)); }},
    {"allocate without end",
     [] {
         constexpr size_t part = size_t{1} << 20U;
         for (;;) {
             char* memory = static_cast<char*>(std::malloc(part));
             if (memory == nullptr) {
                 return true;
             }
             std::memset(memory, 1, part);
         }
     }},
    {"spin",
     [] {
         for (volatile bool on = true; on;) {}
         return false;
     }},
    {"write without end",
     [] {
         const std::vector<char> part(65536);
         while (write(STDOUT_FILENO, part.data(), part.size()) > 0) {}
         return true;
     }},
    {"wait without end",
     [] {
         close(STDERR_FILENO);
         for (;;) {
             const timespec hour{3600, 0};
             nanosleep(&hour, nullptr);
         }
         return false;
     }},
};

/// Everything that would make a filter: as a kernel that never had one.
void forget_filters() {
    const auto refuse = [](long call) {
        return std::array<sock_filter, 2>{sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
                                          sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
    };
    std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const long call : {SYS_seccomp, SYS_landlock_create_ruleset}) {
        const auto part = refuse(call);
        code.insert(code.end(), part.begin(), part.end());
    }
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3));
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/// Whether what the attempt depends on is in force.
bool close_sandbox(std::string_view kind, SandboxNeeds needs) {
    SandboxOptions options;
    options.limits = child_limits;
    options.needs = needs;
    if (kind == "seccomp") {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        return filter_system_calls(needs);
    }
    if (kind == "Landlock") {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        return restrict_files(needs);
    }
    if (kind == "old kernel") {
        forget_filters();
        const Sandbox sandbox = enter_sandbox(options);
        return sandbox.limits && !sandbox.files && !sandbox.system_calls;
    }
    options.kernel_filters = kind != "no filters";
    const Sandbox sandbox = enter_sandbox(options);
    return sandbox.limits && (kind != "memory" || sandbox.addresses);
}

/// Ends the process: nothing else is tried any more, and no sanitizer looks for leaks.
int attempt_in_sandbox(int argc, char** argv) {
    const auto needs = argc == 5 && std::string_view(argv[3]) == "files" ? SandboxNeeds::files : SandboxNeeds::memory;
    if (argc != 5 || !close_sandbox(argv[2], needs)) {
        _exit(not_in_force);
    }
    if (!attempts.at(argv[4])()) {
        _exit(went_through);
    }
    std::fputs(std::strerror(errno), stderr);
    _exit(was_refused);
}

/// Starts a child in a sandbox and goes before it.
int leave_an_orphan(int, char**) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        return 1;
    }
    const pid_t child = fork();
    if (child == 0) {
        SandboxOptions options;
        options.limits = child_limits;
        enter_sandbox(options); // which closes the pipe
        attempts.at("wait without end")();
    }
    close(ends[1]);
    char none = 0;
    const bool entered = read(ends[0], &none, 1) == 0;
    return entered && write(STDOUT_FILENO, &child, sizeof(child)) == sizeof(child) ? 0 : 1;
}

/// Enters a sandbox when the parent that would read its errors has gone already.
int come_too_late(int, char**) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        return 0;
    }
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    SandboxOptions options;
    options.limits = child_limits;
    enter_sandbox(options);
    _exit(0);
}

int copy_input(int, char**) {
    std::array<char, 4096> part{};
    ssize_t n = 0;
    while ((n = read(STDIN_FILENO, part.data(), part.size())) > 0) {
        if (write(STDOUT_FILENO, part.data(), static_cast<size_t>(n)) != n) {
            return 1;
        }
    }
    return n == 0 ? 0 : 1;
}

int change_input(int, char**) {
    if (write(STDIN_FILENO, "x", 1) == 1 || ftruncate(STDIN_FILENO, 0) == 0) {
        return went_through;
    }
    std::fputs(std::strerror(errno), stderr);
    return was_refused;
}

int complain(int, char**) {
    std::fputs("\nit is \x1b[31mred\nand more\n", stderr);
    return 7;
}

int crash(int, char**) {
    std::signal(SIGSEGV, SIG_DFL); // a sanitizer has taken it
    return raise(SIGSEGV);
}

int be_interrupted(int, char**) { return raise(SIGTERM); }

int wait_without_end(int, char**) {
    for (;;) {
        pause();
    }
}

const ProgramRole roles[] = {{"--attempt", attempt_in_sandbox},
                             {"--leave-an-orphan", leave_an_orphan},
                             {"--come-too-late", come_too_late},
                             {"--copy", copy_input},
                             {"--change-input", change_input},
                             {"--complain", complain},
                             {"--crash", crash},
                             {"--interrupted", be_interrupted},
                             {"--wait", wait_without_end}};

} // namespace
} // namespace schedscope::test
