#include "inspector/cli/attach/shared_pages.h"

#include "inspector/cli/line/installed.h"
#include "runtime/error.h"
#include "runtime/system/visible_text.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace schedscope {

namespace {

constexpr size_t shared_bytes = size_t{256} << 20; ///< pages that were never written take none

[[noreturn]] void fail() {
    throw Error(ErrorKind::device, "memory to share with the program: " + std::string(std::strerror(errno)));
}

} // namespace

SharedPages::SharedPages() : SharedPages(Descriptor(memfd_create("schedscope", MFD_CLOEXEC))) {}

SharedPages::SharedPages(Descriptor file) : file_(std::move(file)) {
    // Prompts go through it: it is for this user alone, whoever finds the way to it.
    if (!file_ || fchmod(file_.get(), S_IRUSR | S_IWUSR) != 0 || ftruncate(file_.get(), shared_bytes) != 0) {
        fail();
    }
    at_ = mmap(nullptr, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (at_ == MAP_FAILED) {
        fail();
    }
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&control().recorder, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_mutex_lock(&control().recorder);
    control().mark = attach::control_mark;
}

SharedPages::~SharedPages() {
    pthread_mutex_unlock(&control().recorder);
    munmap(at_, shared_bytes);
}

/// Beside the program, as it is built and as it is installed.
std::string SharedPages::library_path() {
    std::string path = installed::path_of(std::string("../lib/schedscope/") + attach::library_name);
    if (access(path.c_str(), R_OK) != 0) {
        throw Error(ErrorKind::device, visible(path) + ": " + std::strerror(errno) + ": install schedscope as a whole");
    }
    return path;
}

size_t SharedPages::ring_bytes() { return shared_bytes - attach::control_bytes; }

std::vector<StartedProgram::Variable> SharedPages::environment(const AttachOptions& options) const {
    const char* const others = std::getenv("LD_PRELOAD");
    std::string value = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_.get()) + ":%d:";
    value += options.sync ? std::string(1, attach::option_sync) : "";
    value += options.children ? std::string(1, attach::option_children) : "";
    const std::string path = library_path();
    if (path.find_first_of(": ") != std::string::npos) {
        throw Error(ErrorKind::device, visible(path) + ": the loader takes no library whose path has a blank or a colon");
    }
    return {{"LD_PRELOAD", path + (others != nullptr && *others != 0 ? ":" + std::string(others) : "")},
            {attach::environment_name, value}};
}

} // namespace schedscope
