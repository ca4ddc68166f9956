#pragma once

#include "runtime/backend/device.h"

#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace schedscope {

/// One node again on another backend, with inputs of its own that hold what the original's hold.
class NodeCopy {
public:
    /// `device` and `backend` (one of its queues) outlive it.
    NodeCopy(Device& device, Backend& backend) : device_(device), backend_(backend) {}

    /// Copies what the node reads (it must be complete, and nothing may have overwritten it yet) and computes the copy. False:
    /// the device does not run it, `refusal` says why. Throws Error(device).
    bool run(const Tensor& node);
    const Answer& refusal() const noexcept { return refusal_; }
    /// The copy, computed; until the next run.
    const Tensor& result() const noexcept { return node_; }

private:
    struct Upload { ///< bytes of a buffer that go to a place in the scratch buffer
        Buffer* from = nullptr;
        size_t begin = 0, bytes = 0, to = 0;
    };

    void describe(const Tensor& node);
    void place_result(const Tensor& node);
    void place_source(const Tensor& original, Tensor& copy);
    void use_weight(const Tensor& original, Tensor& copy);
    size_t reserve(size_t bytes);
    void fill();

    Device& device_;
    Backend& backend_;
    Tensor node_;
    std::array<Tensor, max_sources> sources_;
    Answer refusal_;
    std::map<std::tuple<const Buffer*, size_t, size_t>, std::unique_ptr<Buffer>>
        weights_;                     ///< by buffer, offset and bytes; copied once
    std::unique_ptr<Buffer> scratch_; ///< all but the weights
    size_t used_ = 0;
    std::vector<Upload> uploads_;
    std::vector<Tensor*> in_scratch_;
    std::vector<std::byte> between_;
};

} // namespace schedscope
