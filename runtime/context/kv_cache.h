#pragma once

#include "runtime/context/kv_cells.h"
#include "runtime/model/graph_builder.h"
#include "runtime/model/model.h"

#include <memory>
#include <span>
#include <vector>

namespace schedscope {

/// Those that keys and values can be stored in: llama.cpp's.
std::span<const Type> cache_types() noexcept;

struct KvCacheOptions {
    int32_t n_cells = 0;     ///< rounded up to a multiple of KvCache::granule
    Type type_k = Type::F16; ///< one of cache_types(), as type_v is
    Type type_v = Type::F16;
    bool v_transposed = false; ///< as attention without flash attention reads it
};

/// Keys and values of all tokens of a context, a pair of tensors per layer where the layer lies, and which cell holds which
/// token.
class KvCache {
public:
    /// Graphs attend to cells in multiples of this, so that a graph stays the same for as many tokens.
    static constexpr int32_t granule = 256;

    /// Throws Error(device) naming the bytes and the device when there is not enough memory, Error(usage) when the types don't
    /// fit the model's heads, or v_transposed has blocks to take apart.
    KvCache(const Model& model, const KvCacheOptions& options);

    KvCells& cells() noexcept { return cells_; }
    const KvCells& cells() const noexcept { return cells_; }
    /// Cells that a graph must attend to: up to the last used one, in multiples of the granule.
    int32_t n_kv() const noexcept;
    /// For a graph over the first n_kv cells; valid as long as the cache.
    CacheView view(int32_t n_kv) const noexcept;
    const KvCacheOptions& options() const noexcept { return options_; }
    int64_t bytes() const noexcept; ///< of all layers
    std::span<const std::unique_ptr<Buffer>> buffers() const noexcept { return buffers_; }

private:
    void allocate(const Model& model);

    KvCacheOptions options_;
    KvCells cells_;
    TensorStore store_;
    std::vector<CacheLayer> layers_;
    std::vector<std::unique_ptr<Buffer>> buffers_;
};

} // namespace schedscope
