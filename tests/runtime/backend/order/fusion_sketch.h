#pragma once

#include "runtime/backend/order/fusion.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <string>
#include <vector>

namespace schedscope::test {

/// A backend that takes every group, or says what it is told to say.
class AnyKernel final : public FusedKernels {
public:
    bool has(std::string_view kernel) const override { return only.empty() || kernel == only; }
    std::string_view why_not(std::string_view kernel, std::span<Tensor* const> nodes) const override {
        return kernel == refused && nodes.size() >= refused_from ? why : "";
    }

    std::string_view only; ///< empty: all kernels
    std::string_view refused, why;
    size_t refused_from = 0; ///< nodes in the group
};

/// A graph without data, and what is found in it: names of nodes.
class FusionSketch {
public:
    Graph graph;
    AnyKernel kernels;
    SplitGraph split;

    Tensor* f32(const Shape& ne, const char* name = "") { return graph.input(Type::F32, ne, name); }
    static Tensor* named(Tensor* t, const char* name) {
        t->name = name;
        return t;
    }
    /// Lists what leads to `wanted` and looks for groups.
    void find(const std::vector<Tensor*>& wanted) {
        for (Tensor* t : wanted) {
            graph.expand(t);
        }
        graph.number();
        split.nodes.assign(graph.nodes().begin(), graph.nodes().end());
        find_groups(split, kernels);
    }
    /// "rms_norm_mul(norm, product)", one behind the other.
    std::string groups() const {
        std::string text;
        for (const FusionGroup& group : split.groups) {
            text += (text.empty() ? "" : " ") + std::string(group.kernel) + "(";
            for (int32_t i = group.first; i < group.first + group.count; ++i) {
                text += (i == group.first ? "" : ", ") + split.nodes[static_cast<size_t>(i)]->name;
            }
            text += ")";
        }
        return text;
    }
    /// "norm, product: output", one behind the other.
    std::string apart() const {
        std::string text;
        for (const UnfusedPair& pair : split.not_fused) {
            text += (text.empty() ? "" : "; ") + split.nodes[static_cast<size_t>(pair.first)]->name + ", " +
                    split.nodes[static_cast<size_t>(pair.second)]->name + ": " + std::string(pair.why);
        }
        return text;
    }
    std::string order() const {
        std::string text;
        for (const Tensor* t : split.nodes) {
            text += (text.empty() ? "" : " ") + t->name;
        }
        return text;
    }
};

} // namespace schedscope::test
