// Turned keys that go straight into the cache.

#include "runtime/backend/order/fusion_parts.h"
#include "runtime/backend/order/fusion_pattern.h"

namespace schedscope::fused {

bool looks_like_rope_store(const Pattern&, Tensor& last, int choice, const Positions& positions, Match& match) {
    Tensor* rows = last.src[0];
    Tensor* rope = rows;
    size_t n_views = 0;
    while (is_view_op(rope->op) && positions.of(*rope) >= 0 && n_views < Match::most - 2) {
        rope = rope->src[0];
        ++n_views;
    }
    if (choice != 0 || rope->op != Op::ROPE || positions.of(*rope) < 0) {
        return false;
    }
    match.add(rope);
    for (Tensor* view = rows; view != rope; view = view->src[0]) {
        match.add(view);
        match.blame(*rope, last, view->readers > 1 ? "used elsewhere" : "");
        match.blame(*rope, last, (view->flags & flag_output) != 0 ? "output" : "");
        match.blame(*rope, last, (view->flags & flag_watched) != 0 ? "watched" : "");
    }
    match.add(&last);
    match.blame(*rope, last, why_needed(*rope));
    // Row t is [head × heads] of token t, as it lies.
    const bool heads_in_row = rows->ne[0] == rope->ne[0] * rope->ne[1] && rows->ne[1] == rope->ne[2] && rope->ne[3] == 1 &&
                              n_rows(*rows) == rows->ne[1];
    match.blame(*rope, last, heads_in_row ? "" : "shapes");
    match.blame(*rope, last, rope->type == Type::F32 && rows->type == Type::F32 ? "" : "types");
    match.blame(*rope, last, is_contiguous(*rope) && is_contiguous(*rows) && rows->view_offset == 0 ? "" : "layout");
    return true;
}

RopeStore rope_store_parts(std::span<Tensor* const> nodes) noexcept { return {nodes.front(), nodes.back()}; }

} // namespace schedscope::fused
