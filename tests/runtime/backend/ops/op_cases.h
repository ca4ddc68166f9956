#pragma once

#include "runtime/tensor/graph.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope::test {

/// What a leaf of a case is filled with, from a fixed seed.
struct Filling {
    enum class Kind { floats, ids, distinct_ids, mask } kind = Kind::floats;
    float low = -1.0F, high = 1.0F; ///< floats: the range
    int64_t end = 0;                ///< ids: less than this; distinct: no id twice in a row of ids
    int64_t stray_every = 0;        ///< floats: each so many-th element is `stray`; 0: none
    float stray = 0;
};

/// The leafs of a case.
class Leafs {
public:
    explicit Leafs(Graph& graph) : graph_(graph) {}

    Tensor* floats(Type type, const Shape& ne, float low = -1.0F, float high = 1.0F) {
        return make(type, ne, {Filling::Kind::floats, low, high, 0});
    }
    /// F32, each `every`-th element of which is `stray`: not a number, or infinite.
    Tensor* with_strays(const Shape& ne, float stray, int64_t every) {
        return make(Type::F32, ne, {Filling::Kind::floats, -1.0F, 1.0F, 0, every, stray});
    }
    Tensor* f32(const Shape& ne) { return floats(Type::F32, ne); }
    /// I32 or I64 from 0 to end − 1.
    Tensor* ids(const Shape& ne, int64_t end, Type type = Type::I32) { return make(type, ne, {Filling::Kind::ids, 0, 0, end}); }
    Tensor* distinct_ids(const Shape& ne, int64_t end, Type type = Type::I32) {
        return make(type, ne, {Filling::Kind::distinct_ids, 0, 0, end});
    }
    /// Zeros, small negative numbers and −∞; each row's first element is seen.
    Tensor* mask(Type type, const Shape& ne) { return make(type, ne, {Filling::Kind::mask, 0, 0, 0}); }

    struct Leaf {
        Tensor* tensor;
        Filling filling;
    };
    const std::vector<Leaf>& all() const noexcept { return leafs_; }

private:
    Tensor* make(Type type, const Shape& ne, const Filling& filling) {
        Tensor* t = graph_.input(type, ne);
        leafs_.push_back({t, filling});
        return t;
    }
    Graph& graph_;
    std::vector<Leaf> leafs_;
};

/// One thing that an operator must do right.
struct OpCase {
    Op op;
    std::string name; ///< what is special: "f16, rows of b transposed"
    std::function<Tensor*(Graph&, Leafs&)> build;
};

/// Every operator over shapes, strides, repetition, types and parameters.
std::vector<OpCase> op_cases();
/// Those of one operator.
std::vector<OpCase> op_cases(Op op);
/// The operators that have cases, each once.
std::vector<Op> ops_with_cases();

/// The types that a product's weights and a table of rows may have.
const std::vector<Type>& expandable_types();
/// Those of them that shaders read.
std::vector<Type> shader_types();
/// Those that keys and values in a cache may have: floats, and blocks of 32 with a half as scale.
std::vector<Type> cached_types();

} // namespace schedscope::test
