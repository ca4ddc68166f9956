#pragma once

#include "runtime/backend/buffer.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope::test {

/// What simulated devices saw that no device should see. One for all devices of a machine.
struct Watch {
    std::vector<std::string> complaints;
    int running = 0; ///< > 0: a device computes just now and may address its memory
    /// Is work queued that will use this buffer? (Asked when a buffer goes away.)
    std::function<bool(const Buffer*)> in_use;

    void complain(std::string what) { complaints.push_back(std::move(what)); }
    /// The first of them; empty: none.
    std::string first() const { return complaints.empty() ? std::string() : complaints.front(); }
};

/// A kind of memory in host memory. Where it is not host memory, only a device that computes gets its address. New memory
/// holds NaN.
class SimulatedMemory final : public BufferType {
public:
    SimulatedMemory(std::string name, bool is_host, size_t max_size, Watch& watch)
        : name_(std::move(name)), is_host_(is_host), max_size_(max_size), watch_(watch) {}
    std::string_view name() const noexcept override { return name_; }
    bool is_host() const noexcept override { return is_host_; }
    size_t alignment() const noexcept override { return 64; }
    size_t max_size() const noexcept override { return max_size_; }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override;

private:
    class Block;
    std::string name_;
    bool is_host_;
    size_t max_size_;
    Watch& watch_;
};

} // namespace schedscope::test
