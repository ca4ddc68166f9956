#include "runtime/backend/blas/blas_library.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"

#include <algorithm>
#include <csignal>
#include <dlfcn.h>
#include <iterator>
#include <unistd.h>

namespace schedscope {

namespace {

/// Calls `f`. Where OpenBLAS can't start its threads it interrupts the thread that calls it, as if the user had: true then; a
/// user's own interrupt still arrives.
template <typename F> bool interrupts_itself(F&& f) {
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    f();
    const timespec at_once{};
    siginfo_t info{};
    bool by_itself = false;
    while (sigtimedwait(&interrupt, &info, &at_once) == SIGINT) {
        if (info.si_pid != getpid()) { // from a terminal or another process
            kill(getpid(), SIGINT);    // blocked here until the mask is put back
            break;
        }
        by_itself = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return by_itself;
}

constexpr const char* no_threads = "BLAS: OpenBLAS can't start its threads";

} // namespace

const BlasLibrary* BlasLibrary::load(std::string& missing) {
    static std::string why;
    static const std::optional<BlasLibrary> library = []() -> std::optional<BlasLibrary> {
        void* handle = nullptr;
        bool interrupted = false;
        for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) {
            if (handle == nullptr) {
                interrupted = interrupts_itself([&] { handle = dlopen(name, RTLD_NOW | RTLD_LOCAL); }) || interrupted;
            }
        }
        if (interrupted) {
            why = no_threads;
            return std::nullopt;
        }
        if (handle == nullptr) {
            const char* const said = dlerror();
            const std::string_view reason = said != nullptr ? said : "";
            why = reason.find("No such file") != std::string_view::npos || reason.empty()
                      ? "BLAS: no OpenBLAS (libopenblas.so.0); Debian has it as libopenblas0-pthread"
                      : "BLAS: OpenBLAS can't be loaded: " + std::string(reason);
            return std::nullopt;
        }
        BlasLibrary found;
        found.sgemm_ = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
        found.set_threads_ = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads"));
        found.config_ = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_config"));
        found.core_ = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_corename"));
        if (found.sgemm_ == nullptr) {
            why = "BLAS: libopenblas.so.0 has no cblas_sgemm";
            return std::nullopt;
        }
        return found;
    }();
    missing = why;
    return library ? &*library : nullptr;
}

void BlasLibrary::multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc) const {
    constexpr int row_major = 101;
    constexpr int as_it_is = 111;
    constexpr int transposed = 112;
    sgemm_(row_major, as_it_is, transposed, m, n, k, 1.0F, a, lda, b, ldb, 0.0F, c, ldc);
}

void BlasLibrary::set_threads(int n) const {
    if (set_threads_ != nullptr && interrupts_itself([&] { set_threads_(n); })) {
        throw Error(ErrorKind::device, no_threads);
    }
}

std::string BlasLibrary::description() const { return config_ != nullptr ? config_() : "OpenBLAS"; }
std::string BlasLibrary::core() const { return core_ != nullptr ? core_() : ""; }

std::optional<int> vector_bits_of_core(std::string_view core) noexcept {
    struct Core {
        std::string_view name;
        int bits;
    };
    static constexpr Core known[] = {{"SkylakeX", 512},    {"Cooperlake", 512}, {"Sapphirerapids", 512}, {"Haswell", 256},
                                     {"Zen", 256},         {"Excavator", 256},  {"Steamroller", 256},    {"Piledriver", 256},
                                     {"Sandybridge", 256}, {"Nehalem", 128},    {"Barcelona", 128},      {"Penryn", 128},
                                     {"Core2", 128},       {"Prescott", 128}};
    const auto* found =
        std::find_if(std::begin(known), std::end(known), [&](const Core& c) { return same_ignoring_case(c.name, core); });
    return found != std::end(known) ? std::optional(found->bits) : std::nullopt;
}

} // namespace schedscope
