#include "inspector/cli/attach/joining/why_not_joined.h"

#include "inspector/cli/attach/joining/other_process.h"
#include "inspector/cli/attach/why_nothing.h"
#include "runtime/system/files.h"
#include "traces/attach/attach_control.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {

namespace {

std::string user_name(uid_t user) {
    const passwd* const entry = getpwuid(user);
    return entry == nullptr ? "user " + std::to_string(user) : entry->pw_name;
}

/// Do the rights of root go with it here? A container may take them away.
bool may_trace_others() {
    constexpr int cap_sys_ptrace = 19;
    return (std::strtoull(status_of(getpid(), "CapEff").c_str(), nullptr, 16) >> cap_sys_ptrace & 1) != 0;
}

/// Who may look into it may hold it as well; the reasons are the same.
std::string why_not_allowed(pid_t id) {
    const auto user = static_cast<uid_t>(std::strtoul(status_of(id, "Uid").c_str(), nullptr, 10));
    if (user != geteuid() && geteuid() != 0) {
        return "it runs as " + user_name(user) + "; run schedscope as that user, or with sudo";
    }
    std::ifstream yama("/proc/sys/kernel/yama/ptrace_scope");
    int scope = 0;
    if (yama >> scope && scope >= 3) {
        return "kernel.yama.ptrace_scope is 3, and no process may be joined until the system starts without it";
    }
    if (scope > 0 && geteuid() != 0) {
        return "kernel.yama.ptrace_scope is " + std::to_string(scope) +
               ": sudo sysctl kernel.yama.ptrace_scope=0, or run schedscope with sudo, or start the program with: schedscope "
               "record";
    }
    if (geteuid() == 0 && may_trace_others()) {
        return std::string("the kernel does not allow it of this process") +
               (id == 1 ? ", the first one of the system or container" : "") + "; others may be joined (CAP_SYS_PTRACE is there)";
    }
    if (geteuid() == 0) {
        return "the kernel does not allow it; in a container: --cap-add SYS_PTRACE, or run schedscope outside of it";
    }
    return "it does not let others of its user look into it (it runs with rights of its own, or asked for that); run schedscope "
           "with sudo";
}

/// Of the vector that the kernel gave it when it began. Nothing: it can't be read.
std::optional<uint64_t> auxiliary(pid_t id, uint64_t type) {
    std::ifstream file(proc_path(id, "auxv"), std::ios::binary);
    for (ElfW(auxv_t) entry = {}; file.read(reinterpret_cast<char*>(&entry), sizeof entry) && entry.a_type != AT_NULL;) {
        if (entry.a_type == type) {
            return entry.a_un.a_val;
        }
    }
    return std::nullopt;
}

/// Does another schedscope read what it sends?
bool is_recorded(const OtherProcess& process) {
    return std::any_of(process.ranges().begin(), process.ranges().end(), [&](const MappedRange& range) {
        constexpr int owner = 0x3fffffff;
        const auto control = range.path.starts_with("/memfd:schedscope") && range.offset == 0
                                 ? process.read<attach::Control>(range.begin)
                                 : std::nullopt;
        return control && control->mark == attach::control_mark && (control->recorder.__data.__lock & owner) != 0;
    });
}

/// Of any of its threads; empty: none is held.
std::string tracer_of(pid_t id) {
    for (const std::string& task : names_in(proc_path(id, "task"))) {
        std::string tracer = status_of(std::atoi(task.c_str()), "TracerPid"); // NOLINT: the kernel's names
        if (!tracer.empty() && tracer != "0") {
            return tracer;
        }
    }
    return "";
}

} // namespace

std::string why_not_seen(pid_t id, int error) {
    return error == EACCES || error == EPERM ? why_not_allowed(id)
                                             : "its memory can't be read: " + std::string(std::strerror(error));
}

bool is_traced(pid_t id) { return !tracer_of(id).empty(); }

std::string why_not_traced(pid_t id, int error) {
    if (const std::string tracer = tracer_of(id); !tracer.empty()) {
        return "process " + tracer + " holds it already (a debugger, strace); end that one first";
    }
    return error == EPERM ? why_not_allowed(id) : "none of its threads can be held: " + std::string(std::strerror(error));
}

std::string why_not_joined(pid_t id) {
    if (id == getpid()) {
        return "that is schedscope itself";
    }
    if (access(proc_path(id, "").c_str(), F_OK) != 0) {
        return "there is no such process";
    }
    const std::string state = status_of(id, "State");
    if (state.starts_with("Z") || state.starts_with("X")) {
        return "it has ended";
    }
    OtherProcess process(id);
    if (!process.look()) {
        return why_not_seen(id, errno);
    }
    if (process.ranges().empty()) {
        return "it is a part of the kernel";
    }
    if (std::string why = why_not_loaded(proc_path(id, "exe")); !why.empty()) {
        return why;
    }
    const std::optional<uint64_t> secure = auxiliary(id, AT_SECURE);
    if (!secure || *secure != 0) {
        return "it runs with rights of its own, and such programs are left alone (AT_SECURE)";
    }
    if (is_recorded(process)) {
        return "it is recorded already";
    }
    const bool has_ggml = std::any_of(process.files().begin(), process.files().end(), [&](const LoadedFile& file) {
        return process.function(file, "ggml_backend_sched_new").has_value();
    });
    if (!has_ggml) {
        return "it has no library of ggml (now: attach when it has loaded a model); ggml within a program itself, without its "
               "names, can't be seen";
    }
    return "";
}

} // namespace schedscope
