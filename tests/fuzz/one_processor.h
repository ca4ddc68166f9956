#pragma once

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/registry.h"
#include "tests/fuzz/verdict.h"

#include <memory>
#include <string_view>
#include <vector>

namespace schedscope::fuzz {

/// Whatever a step finds wrong with a model's file must be one sentence about the input. False: it found something.
template <typename F> bool goes_well(F&& step) {
    try {
        step();
        return true;
    } catch (const Error& error) {
        constexpr size_t longest = 700;
        expect_of_input(error);
        if (std::string_view(error.what()).size() > longest) {
            fail("not one short line", error.what());
        }
        return false;
    }
}

/// The processor alone, on one thread, for all inputs.
struct Machine {
    std::unique_ptr<Device> cpu = make_cpu_device();
    std::vector<Device*> devices{cpu.get()};
    std::vector<std::unique_ptr<Backend>> backends = make_backends(devices, {.n_threads = 1, .fusion = true, .name = {}});
};

} // namespace schedscope::fuzz
