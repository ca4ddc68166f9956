#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/tensor/graph.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace schedscope::chance {

/// Weights and caches that several graphs use, with values (and zeros in the caches).
struct RandomModel {
    /// `home`: in which memory the next tensor lies; asked once for each, in the same order.
    RandomModel(uint32_t seed, const std::function<const BufferType&()>& home);
    RandomModel(RandomModel&&) = default;

    Tensor* make(Type type, const Shape& ne, const std::string& name, BufferUsage usage);

    std::vector<Tensor*> products; ///< [in, out], in and out 16 or 32, F32 or F16
    std::vector<Tensor*> rows;     ///< [w]: norms and biases
    std::vector<Tensor*> tables;   ///< [w, 24]: looked up by row
    std::vector<Tensor*> experts;  ///< [in, out, 4]
    std::vector<Tensor*> gates;    ///< [in, 4]
    std::vector<Tensor*> caches;   ///< [w, 16]
    std::unique_ptr<TensorStore> store = std::make_unique<TensorStore>();

private:
    std::mt19937 random_;
    std::function<const BufferType&()> home_;
    std::vector<std::unique_ptr<Buffer>> buffers_;
};

constexpr int64_t n_table_rows = 24, n_cache_rows = 16, n_experts = 4;

struct RandomShape {
    uint32_t seed = 0;
    int n_steps = 20;     ///< operators or small groups of them
    int64_t n_tokens = 4; ///< 1 to n_cache_rows
};

/// A graph of a model's operators in random order on random values: views, writes into caches, lookups, experts, values used far away from
/// where they are made, operators in place. Inputs are flagged, and so are some values as outputs; the last one always is.
void build(Graph& graph, RandomModel& model, const RandomShape& shape);

/// Fills the inputs of a graph: the same values for tensors of the same name and seed.
void fill_inputs(const Graph& graph, uint32_t seed);

} // namespace schedscope::chance
