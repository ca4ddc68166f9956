#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include <sched.h>

namespace schedscope {

/// Processors (hyperthreads, as Linux numbers them) that threads may run on. Of none: wherever the system puts them.
class ProcessorSet {
public:
    static constexpr int most = CPU_SETSIZE; ///< that the system's calls know of

    /// llama.cpp's mask: hexadecimal, with or without 0x; the lowest bit is processor 0. Throws Error(usage) "TEXT: why".
    static ProcessorSet of_mask(std::string_view text);
    /// llama.cpp's range, both ends belong to it: "4-7", "-3" from processor 0, "4-" to the last. Throws Error(usage).
    static ProcessorSet of_range(std::string_view text);
    /// Those that the calling thread may use; of none where the system does not say.
    static ProcessorSet usable();

    bool empty() const noexcept { return bits_.none(); }
    int size() const noexcept;
    bool has(int processor) const noexcept { return bits_[processor]; }
    ProcessorSet& operator|=(const ProcessorSet& other) noexcept { return bits_ |= other.bits_, *this; }
    ProcessorSet& operator&=(const ProcessorSet& other) noexcept { return bits_ &= other.bits_, *this; }
    bool operator==(const ProcessorSet&) const = default;
    std::string text() const; ///< "0-3,8"; empty: of none

private:
    friend class BoundThread;
    std::bitset<most> bits_;
};

/// While this lives, the calling thread runs on these processors, and so do threads that it starts; of none: nothing changes.
/// Goes where it was made. Throws Error(device) when the system refuses.
class BoundThread {
public:
    explicit BoundThread(const ProcessorSet& processors);
    ~BoundThread();
    BoundThread(const BoundThread&) = delete;
    BoundThread& operator=(const BoundThread&) = delete;

private:
    ProcessorSet before_; ///< of none: nothing is put back
};

/// Cores, hyperthreads counted once, among these processors; of none: among those that this process may use.
int physical_cores(const ProcessorSet& among = {});

} // namespace schedscope
