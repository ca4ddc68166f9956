#include "runtime/backend/blas/blas_library.h"

#include <csignal>
#include <dlfcn.h>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace schedscope {

namespace {

/// Opens a library. Where OpenBLAS can't start its threads it interrupts the thread that loads it, as if the user had; `interrupted` says so, and a user's own
/// interrupt still arrives.
void* open_library(const char* name, bool& interrupted) {
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const timespec at_once{};
    siginfo_t info{};
    while (sigtimedwait(&interrupt, &info, &at_once) == SIGINT) {
        if (info.si_code != SI_TKILL) {
            kill(getpid(), SIGINT); // blocked here until the mask is put back
            break;
        }
        interrupted = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return handle;
}

} // namespace

const BlasLibrary* BlasLibrary::load(std::string& missing) {
    static std::string why;
    static const std::optional<BlasLibrary> library = []() -> std::optional<BlasLibrary> {
        void* handle = nullptr;
        bool interrupted = false;
        for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) {
            if (handle == nullptr) {
                handle = open_library(name, interrupted);
            }
        }
        if (interrupted) {
            why = "BLAS: OpenBLAS can't start its threads";
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
    if (set_threads_ != nullptr) {
        set_threads_(n);
    }
}

std::string BlasLibrary::description() const { return config_ != nullptr ? config_() : "OpenBLAS"; }

} // namespace schedscope
