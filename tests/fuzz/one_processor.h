#pragma once

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/registry.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace schedscope::fuzz {

/// Ends the target: what must hold of models does not.
[[noreturn]] inline void fail(const char* what, const char* sentence) {
    std::fprintf(stderr, "%s: %s\n", what, sentence);
    std::abort();
}

/// The processor alone, on one thread, for all inputs.
struct Machine {
    std::unique_ptr<Device> cpu = make_cpu_device();
    std::vector<Device*> devices{cpu.get()};
    std::vector<std::unique_ptr<Backend>> backends = make_backends(devices, {.n_threads = 1, .fusion = true, .name = {}});
};

} // namespace schedscope::fuzz
