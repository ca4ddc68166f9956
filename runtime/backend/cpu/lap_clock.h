#pragma once

#include "runtime/backend/backend.h"

#include <cstdint>
#include <span>

namespace schedscope::cpu {

/// Times pieces of work that follow each other within microseconds. A reading of now_ns takes 20 to 40 ns, which a tiny model's
/// kernels notice; a reading of the processor's counter takes half of it or less. Two readings of both clocks, before and behind
/// all pieces, say what the ticks between them are in now_ns's nanoseconds.
class LapClock {
public:
    LapClock() noexcept : begin_(read_both()) {}

    /// Now. Ticks of no fixed unit; now_ns itself where the kernel's own clock is not made of that counter, which then need not
    /// be steady, or the same on all processors.
    static int64_t ticks() noexcept;
    int64_t begin() const noexcept { return begin_.ticks; }
    /// Starts and ends of kernels, from ticks that were read since `begin` to nanoseconds of now_ns. None lies outside of the
    /// time from `begin` to this call.
    void to_ns(std::span<KernelTime> kernels) const noexcept;

private:
    struct Reading {
        int64_t ticks = 0, ns = 0;
    };
    static Reading read_both() noexcept;

    Reading begin_;
};

} // namespace schedscope::cpu
