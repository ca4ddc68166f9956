// The filter of system calls, as a program for the kernel's packet filter: man 2 seccomp.
#include "runtime/system/process/kernel_filters.h"

#include "runtime/system/sanitizers.h"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <initializer_list>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace schedscope {

namespace {

#if defined(__x86_64__)
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t architecture = 0; // calls have other numbers everywhere
#endif

/// Rules in order, the first that fits counts; what none fits is denied.
class Rules {
public:
    Rules() {
        load(offsetof(seccomp_data, arch));
        jump(BPF_JEQ, architecture, 1, 0);
        answer(SECCOMP_RET_KILL_PROCESS);
        load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
        constexpr uint32_t x32_bit = 0x40000000; // the same architecture, other calls
        jump(BPF_JGE, x32_bit, 0, 1);
        answer(SECCOMP_RET_KILL_PROCESS);
#endif
    }

    void allow(std::initializer_list<int> calls) {
        for (const int call : calls) {
            when(call, 1);
            answer(SECCOMP_RET_ALLOW);
        }
    }
    /// Only where these bits of the argument, which lie in its lower half, have this value.
    void allow_if(int call, unsigned argument, uint32_t bits, uint32_t value) {
        when(call, 5);
        load(half_of(argument, false));
        code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits));
        jump(BPF_JEQ, value, 0, 1);
        answer(SECCOMP_RET_ALLOW);
        answer(failure(EPERM));
    }
    /// Only where the argument is a null pointer.
    void allow_if_null(int call, unsigned argument) {
        when(call, 6);
        load(half_of(argument, false));
        jump(BPF_JEQ, 0, 0, 3);
        load(half_of(argument, true));
        jump(BPF_JEQ, 0, 0, 1);
        answer(SECCOMP_RET_ALLOW);
        answer(failure(EPERM));
    }
    /// As a kernel that doesn't know the call: the C library then takes an older one, whose arguments can be looked at.
    void hide(std::initializer_list<int> calls) {
        for (const int call : calls) {
            when(call, 1);
            answer(failure(ENOSYS));
        }
    }

    /// To this thread and all others of the process.
    bool put_in_force() {
        answer(failure(EPERM));
        const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 ||
               prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }

private:
    static uint32_t failure(int error) { return SECCOMP_RET_ERRNO | error; }
    static uint32_t half_of(unsigned argument, bool upper) { // both architectures put the lower half first
        return static_cast<uint32_t>(offsetof(seccomp_data, args) + sizeof(uint64_t) * argument + (upper ? sizeof(uint32_t) : 0));
    }
    void load(size_t at) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(at))); }
    void answer(uint32_t action) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }
    void jump(unsigned test, uint32_t value, uint8_t if_true, uint8_t if_false) {
        code_.push_back(BPF_JUMP(BPF_JMP | test | BPF_K, value, if_true, if_false));
    }
    /// The next `n` instructions are for this call alone, and end with an answer.
    void when(int call, uint8_t n) { jump(BPF_JEQ, call, 0, n); }

    std::vector<sock_filter> code_;
};

/// What computing takes, and writing to what is open.
void allow_computing(Rules& rules) {
    rules.allow({SYS_read,
                 SYS_write,
                 SYS_readv,
                 SYS_writev,
                 SYS_pread64,
                 SYS_lseek,
                 SYS_close,
                 SYS_fstat,
                 SYS_brk,
                 SYS_munmap,
                 SYS_mremap,
                 SYS_madvise,
                 SYS_futex,
                 SYS_sched_yield,
                 SYS_nanosleep,
                 SYS_clock_nanosleep,
                 SYS_clock_gettime,
                 SYS_getrandom,
                 SYS_rt_sigaction,
                 SYS_rt_sigprocmask,
                 SYS_rt_sigreturn,
                 SYS_sigaltstack,
                 SYS_getpid,
                 SYS_gettid,
                 SYS_restart_syscall,
                 SYS_exit,
                 SYS_exit_group});
    rules.allow_if(SYS_tgkill, 0, ~0U, getpid()); // abort()
}

/// New code only where libraries are loaded.
void allow_memory(Rules& rules, bool with_code) {
    for (const int call : {SYS_mmap, SYS_mprotect}) {
        rules.allow_if(call, 2, with_code ? 0 : PROT_EXEC, 0);
    }
}

void allow_reading_files(Rules& rules) {
    constexpr uint32_t writes = O_ACCMODE | O_CREAT | O_TRUNC; // a call that makes a file without a name asks to write, too
    rules.allow_if(SYS_openat, 2, writes, O_RDONLY);
    rules.allow({SYS_newfstatat, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_readlinkat, SYS_getdents64, SYS_getcwd,
                 SYS_fadvise64, SYS_uname, SYS_sysinfo, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid});
#if defined(__x86_64__)
    rules.allow_if(SYS_open, 1, writes, O_RDONLY);
    rules.allow({SYS_stat, SYS_lstat, SYS_access, SYS_readlink});
#endif
    rules.allow_if(SYS_fcntl, 1, ~3U, 0); // F_DUPFD, F_GETFD, F_SETFD, F_GETFL
}

/// How a sanitizer looks whether an address can be read, and who it is.
void allow_sanitizers(Rules& rules) {
    rules.allow({SYS_pipe2, SYS_readlinkat});
#if defined(__x86_64__)
    rules.allow({SYS_pipe, SYS_readlink});
#endif
}

/// Pango lets fontconfig read its files on a thread.
void allow_threads(Rules& rules) {
    rules.allow_if(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
    rules.allow({SYS_set_robust_list, SYS_rseq, SYS_sched_getaffinity, SYS_eventfd2});
    rules.allow_if_null(SYS_prlimit64, 2); // asks, and sets nothing
}

} // namespace

bool filter_system_calls(SandboxNeeds needs) {
    if (architecture == 0) {
        return false;
    }
    Rules rules;
    allow_computing(rules);
    allow_memory(rules, needs == SandboxNeeds::files);
    if (sanitized) {
        allow_sanitizers(rules);
    }
    if (needs == SandboxNeeds::files) {
        allow_reading_files(rules);
        allow_threads(rules);
        rules.hide({SYS_clone3, SYS_openat2, SYS_faccessat2, SYS_statx});
    }
    return rules.put_in_force();
}

} // namespace schedscope
