#pragma once

#include "runtime/backend/device.h"
#include "runtime/tensor/ops.h"

#include <memory>
#include <span>
#include <vector>

namespace schedscope::test {

/// A graph whose tensors lie one behind the other in one host buffer, for tests that look at single values.
class SmallGraph {
public:
    Graph graph;

    /// Lists the nodes that lead to `wanted` and gives everything a place. Tensors placed before keep theirs.
    SplitGraph place(const Device& device, std::span<Tensor* const> wanted) {
        for (Tensor* t : wanted) {
            graph.expand(t);
        }
        size_t size = 0;
        for (Tensor* t : graph.number()) {
            if (t->view_source == nullptr) {
                t->offset = size;
                size += (n_bytes(*t) + 63) / 64 * 64;
            }
        }
        buffer_ = device.buffer_type().allocate(size);
        for (Tensor* t : graph.tensors()) {
            t->buffer = buffer_.get();
            t->offset = t->view_source != nullptr ? t->view_source->offset + t->view_offset : t->offset;
        }
        SplitGraph split;
        split.nodes.assign(graph.nodes().begin(), graph.nodes().end());
        return split;
    }
    SplitGraph place(const Device& device, Tensor* wanted) { return place(device, std::span<Tensor* const>(&wanted, 1)); }

private:
    std::unique_ptr<Buffer> buffer_;
};

/// A contiguous F32 tensor's values.
inline std::vector<float> floats_of(const Tensor& t) {
    std::vector<float> values(static_cast<size_t>(n_elements(t)));
    tensor_read(t, values.data(), 0, values.size() * sizeof(float));
    return values;
}
inline void set_floats(const Tensor& t, std::span<const float> values) { tensor_write(t, values.data(), 0, values.size_bytes()); }

/// Different values without a pattern that repeats soon.
inline std::vector<float> some_floats(size_t n) {
    std::vector<float> values(n);
    uint32_t state = 12345;
    for (float& v : values) {
        state = state * 1664525U + 1013904223U;
        v = static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
    }
    return values;
}

inline void compute_all(Backend& backend, const SplitGraph& split, KernelLog* log = nullptr) {
    backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), log);
    backend.synchronize();
}

} // namespace schedscope::test
