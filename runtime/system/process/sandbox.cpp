#include "runtime/system/process/sandbox.h"

#include "runtime/system/process/kernel_filters.h"
#include "runtime/system/sanitizers.h"

#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace schedscope {

namespace {

/// Whoever reads our stderr is the parent. If it went before PR_SET_PDEATHSIG was set, no signal will come.
bool has_no_reader(int file) {
    pollfd watched{file, 0, 0};
    return poll(&watched, 1, 0) > 0 && (watched.revents & POLLERR) != 0;
}

bool limit(decltype(RLIMIT_AS) what, int64_t most) {
    const rlimit both{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
    return setrlimit(what, &both) == 0;
}

/// Of processor time the first limit sends SIGXCPU, by which the parent knows why; the second one can't be ignored.
bool limit_processor_time(int64_t seconds) {
    const rlimit most{static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds) + 1};
    return setrlimit(RLIMIT_CPU, &most) == 0;
}

/// −1: it can't be found out.
int64_t mapped_bytes() {
    long long pages = -1;
    std::FILE* file = std::fopen("/proc/self/statm", "re");
    if (file != nullptr) {
        pages = std::fscanf(file, "%lld", &pages) == 1 ? pages : -1;
        std::fclose(file);
    }
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

bool limit_all(const SandboxOptions& options) {
    constexpr int64_t standard_files = 3, open_files = 256;
    bool all = limit(RLIMIT_CORE, 0);
    all = limit_processor_time(options.limits.processor_seconds) && all;
    all = limit(RLIMIT_FSIZE, options.limits.written_bytes) && all;
    return limit(RLIMIT_NOFILE, options.needs == SandboxNeeds::files || sanitized ? open_files : standard_files) && all;
}

} // namespace

Sandbox enter_sandbox(const SandboxOptions& options) {
    bool alone = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
    if (has_no_reader(STDERR_FILENO)) {
        _exit(1);
    }
    alone = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && alone;
    alone = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && alone; // no core is handed to another program, no debugger attaches
    close_range(STDERR_FILENO + 1, ~0U, 0);
    const int64_t mapped = mapped_bytes(); // files can't be opened for long
    Sandbox sandbox;
    sandbox.files = options.kernel_filters && restrict_files(options.needs);
    sandbox.limits = limit_all(options) && alone;
    sandbox.addresses = !sanitized && mapped >= 0 && limit(RLIMIT_AS, mapped + options.limits.memory_bytes);
    sandbox.system_calls = options.kernel_filters && filter_system_calls(options.needs); // the last: it forbids all of the above
    return sandbox;
}

} // namespace schedscope
