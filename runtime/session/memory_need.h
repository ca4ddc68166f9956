#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace schedscope {

class Session;
class EncoderSession;

/// What a session's plans ask of one kind of memory. Bytes.
struct MemoryNeed {
    std::string buffer_type; ///< "CPU", "Vulkan0"
    int64_t weights = 0;
    int64_t cache = 0;                       ///< keys and values, of the whole context in all layers
    std::optional<int64_t> cache_of_windows; ///< if layers that slide kept their window alone; nothing: that is no less
    int64_t compute = 0;                     ///< of the memory that was reserved
    std::string holds;                       ///< whose weights: "40 blocks, the output", "3 blocks in part, the encoder"
    int64_t memory = 0;                      ///< that the device has; 0: unknown
    bool is_host = false;                    ///< memory of the host
    int64_t mapped = 0;                      ///< of the weights: lie in their file, and what does not fit is read again

    int64_t total() const noexcept { return weights + cache + compute; }
    bool fits_at_once() const noexcept { return memory == 0 || total() <= memory; }
    bool fits() const noexcept { return memory == 0 || total() - mapped <= memory; } ///< if not at once
    std::string room() const;                                                        ///< "21.3 GiB of 24.0 GiB"
    /// "21.3 GiB of 24.0 GiB (weights 20.1 GiB: 40 blocks, the output; KV cache 1.0 GiB, compute 0.2 GiB)"; without what there is
    /// none of
    std::string text() const;
};

/// One entry for each kind of memory that is used, in the scheduler's order.
std::vector<MemoryNeed> memory_needs(Session& session);
std::vector<MemoryNeed> memory_needs(const EncoderSession& session);

} // namespace schedscope
