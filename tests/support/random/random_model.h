#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/tensor/graph.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace schedscope::test {

/// What a random graph grows by: an operator, or a few that models have together.
enum class RandomStep : uint8_t {
    product,
    biased_product, ///< with a sum, and maybe a function, behind it
    gated_product,  ///< of what two products make, one of them through a function
    sum,
    difference,
    scaling, ///< element by element
    norm,    ///< times a row or a value, and maybe plus a row
    function,
    scale,
    rope,
    write_cache,
    store_keys, ///< rows that ROPE turned, into a cache
    read_cache,
    attention,
    experts,
    lookup,
    part,  ///< of two side by side, or a value whose dimensions were exchanged
    clamp, ///< in place
    row_sum,
    cast_or_gate,
};

/// What random graphs are made of.
struct RandomStyle {
    std::vector<RandomStep> steps; ///< each as often as it stands here
    std::vector<int64_t> widths;   ///< of values
    std::vector<Type> weights;     ///< types, each as often as it stands here
    std::vector<Type> caches;      ///< in turn
    int64_t head;                  ///< what ROPE turns; divides all widths
    size_t near, far;              ///< most values are used among so many made last, some among so many (0: all)
    /// Caches are read and written in any order, and half of the nodes stand only where they are read. Otherwise whoever reads a
    /// cache in a graph that also writes it reads it behind the writing: the order of other reads and writes is up to the
    /// scheduler.
    bool any_order;
    /// Whatever no node reads is an output.
    bool all_wanted;
};
/// For what plans and splits: all steps, on small values of several sizes.
const RandomStyle& any_steps();
/// For what fuses and reorders: chains of what is mostly read once, long enough for vectors, with quantised weights and caches.
const RandomStyle& fusable_chains();

constexpr int64_t n_table_rows = 24, n_cache_rows = 16, n_experts = 4;

/// Weights and caches that several graphs use.
class RandomModel {
public:
    RandomModel(uint32_t seed, const RandomStyle& style);
    RandomModel(RandomModel&&) = default;

    /// Memory for each, with values (and zeros in the caches). `home`: in which the next tensor lies; asked once for each, in the
    /// same order.
    void give_memory(const std::function<const BufferType&()>& home);

    const RandomStyle& style;
    std::vector<Tensor*> products; ///< [in, out]; there are some for values of each width
    std::vector<Tensor*> rows;     ///< [w]: norms and biases; there are some of each width
    std::vector<Tensor*> tables;   ///< [w, 24]: looked up by row
    std::vector<Tensor*> experts;  ///< [in, out, 4]
    std::vector<Tensor*> gates;    ///< [in, 4]
    std::vector<Tensor*> caches;   ///< [w, 16]

private:
    uint32_t seed_;
    std::unique_ptr<TensorStore> store_ = std::make_unique<TensorStore>();
    std::vector<std::unique_ptr<Buffer>> buffers_;
};

/// The same values for tensors of the same name, type and shape and the same seed.
void fill(const Tensor& leaf, uint32_t seed);
/// All inputs of a graph.
void fill_inputs(const Graph& graph, uint32_t seed);

} // namespace schedscope::test
