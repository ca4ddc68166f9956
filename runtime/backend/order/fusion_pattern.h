#pragma once

#include "runtime/backend/order/fusion.h"

#include <array>

/// Private to the finder of groups: what a family of patterns says of a node that may be the last one of a group.
namespace schedscope::fused {

/// Where nodes of the split stand at the moment.
class Positions {
public:
    virtual ~Positions() = default;
    /// −1: not a node of the split.
    virtual int32_t of(const Tensor& t) const noexcept = 0;
};

/// A group that may be: its nodes, and what is in the way.
struct Match {
    static constexpr size_t most = 16;
    std::array<Tensor*, most> member{};
    size_t n = 0;
    std::string_view why;                             ///< empty: nothing is in the way
    const Tensor *first = nullptr, *second = nullptr; ///< of these two

    void add(Tensor* t) { member[n++] = t; }
    bool has(const Tensor* t) const noexcept {
        for (size_t i = 0; i < n; ++i) {
            if (member[i] == t) {
                return true;
            }
        }
        return false;
    }
    /// Keeps the first thing that is in the way.
    void blame(const Tensor& a, const Tensor& b, std::string_view reason) {
        if (why.empty() && !reason.empty()) {
            why = reason;
            first = &a;
            second = &b;
        }
    }
};

/// A kernel with the nodes it takes.
struct Pattern {
    std::string_view kernel;
    size_t n_nodes; ///< views not counted
    Op last;
    /// Is `last` the last of nodes that look like this one's? Then they are in `match`, the last one at the end, with what is in
    /// the way. Where two sources of `last` may belong to it, `choice` 0 is the nearer, 1 the farther one.
    bool (*looks_like)(const Pattern& pattern, Tensor& last, int choice, const Positions& positions, Match& match);
};

// In fusion_rows.cpp.
bool looks_like_norm(const Pattern&, Tensor& last, int choice, const Positions&, Match&);
bool looks_like_chain(const Pattern&, Tensor& last, int choice, const Positions&, Match&);
// In fusion_products.cpp.
bool looks_like_product(const Pattern&, Tensor& last, int choice, const Positions&, Match&);
bool looks_like_gate_up(const Pattern&, Tensor& last, int choice, const Positions&, Match&);
// In fusion_store.cpp.
bool looks_like_rope_store(const Pattern&, Tensor& last, int choice, const Positions&, Match&);

/// Source 0 or 1 of the node if it is a node of the split with this operator; of two the nearer (choice 0) or the farther one.
Tensor* source_with(const Tensor& node, Op op, int choice, const Positions& positions) noexcept;
/// Why this result may not be left out; empty: it may.
std::string_view why_needed(const Tensor& inner) noexcept;
/// Of an operand whose rows go along with rows of `result`; empty: it fits.
std::string_view why_not_row(const Tensor& operand, const Tensor& result) noexcept;
/// The other source of a node with two.
inline const Tensor& other_source(const Tensor& node, const Tensor& one) noexcept {
    return node.src[0] == &one ? *node.src[1] : *node.src[0];
}

} // namespace schedscope::fused
