#pragma once

#include "runtime/numbers.h"

#include <cstdint>
#include <random>

namespace schedscope {

/// Uniform numbers in [0, 1) from mt19937: the same for a seed on every machine, on the CPU and in the graph. Each is a multiple
/// of 2⁻²⁴, so that a float holds it exactly. (The standard's distributions differ between libraries; the generator itself does
/// not.)
class Uniform {
public:
    explicit Uniform(uint32_t seed) : seed_(seed), random_(seed) {}

    float next() noexcept { return to_float(random_() >> 8U) * 0x1p-24F; }
    void reset() { random_.seed(seed_); }

private:
    uint32_t seed_;
    std::mt19937 random_;
};

} // namespace schedscope
