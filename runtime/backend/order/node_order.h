#pragma once

#include "runtime/backend/backend.h"

/// Which nodes may change places. Memory is known by its owner: a tensor that is no view, or the root of views.
namespace schedscope {

/// Must `later` wait until `earlier`, which stands before it, is done? One of them writes memory that the other reads or writes:
/// a result, a cache through a view, what SET_ROWS or CPY write into. Views move no data: nothing waits for them.
bool must_wait(const Tensor& later, const Tensor& earlier) noexcept;

/// Must `later` stay behind `earlier`, which stands before it? It waits for it, or names it as a source.
bool must_follow(const Tensor& later, const Tensor& earlier) noexcept;

/// Two nodes of an order that must not change places.
struct BrokenOrder {
    const Tensor* earlier = nullptr; ///< null: nothing is broken
    const Tensor* later = nullptr;   ///< stands before `earlier` now, though it must follow it
};
/// Is `after`, the same nodes in another order, an order in which every node still follows what it followed? In time that grows
/// with the nodes.
BrokenOrder broken_order(std::span<Tensor* const> before, std::span<Tensor* const> after);

/// Brings nodes together that need not wait for one another: where a node must wait for one since the last wait, a node further
/// on that must not is moved before it. Groups are moved as one; `groups` and `not_fused` are kept right. For backends that run
/// such nodes at the same time.
void spread_waits(SplitGraph& split);

} // namespace schedscope
