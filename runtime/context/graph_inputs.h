#pragma once

#include "runtime/context/batch.h"
#include "runtime/context/kv_cells.h"
#include "runtime/model/graph_builder.h"

#include <cstdint>
#include <span>
#include <vector>

namespace schedscope {

/// Computes a graph's inputs for an ubatch and writes them to where the plan put them. Keeps its scratch memory.
class GraphInputs {
public:
    /// cells: where each token of the ubatch lies in the cache (already taken in `kv`).
    void fill(const GraphTensors& io, const Ubatch& ubatch, const KvCells& kv, std::span<const int32_t> cells, const Hparams& h);

private:
    void fill_mask(const Tensor& mask, const Ubatch& ubatch, const KvCells& kv, int32_t window);
    void fill_rows(const Tensor* k_rows, const Tensor* v_rows, const KvCells& kv, std::span<const int32_t> cells,
                   int64_t n_embd_v);

    std::vector<int32_t> ints_;
    std::vector<int64_t> longs_;
    std::vector<float> floats_;
    std::vector<uint16_t> halfs_;
};

} // namespace schedscope
