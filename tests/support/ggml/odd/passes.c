#include "graphs.h"

/* Where no backend runs a node, old builds end the program: then an input takes its place. */
static void* or_else(struct graph* g, void* node) { return backend_supports_op(g->last, node) ? node : tensor(g->in, true); }

/* Nothing says where these run: whoever can read most is taken. Views of what has no place yet, nodes read by views alone. */
void no_place(struct graph* g) {
    void* const in = g->in;
    void* const a = tensor(in, true);
    void* const b = tensor(in, true);
    void* const whole = add(in, a, b);
    void* const part = view_1d(in, whole, n, sizeof(float) * n);
    void* const square = sqr(in, part);
    void* const turned = cont(in, transpose(in, whole));
    void* const again = mul(in, turned, b);
    build_forward_expand(g->nodes, square);
    build_forward_expand(g->nodes, again);
    build_forward_expand(g->nodes, view_1d(in, again, n, 0));
}

/* Weights that lie with one backend, read by nodes that are pinned to another. */
void weighty(struct graph* g) {
    void* x = tensor(g->in, true);
    for (int i = 0; i < 6; ++i) {
        void* const weight = tensor(g->held, false);
        x = mul_mat(g->in, weight, add(g->in, x, tensor(g->held, false)));
        pinned(g, i % 3 == 0 ? g->first : g->last, x);
        x = i % 2 == 0 ? sqr(g->in, x) : x;
    }
    hold(g, backend_get_default_buffer_type(g->round == 7 ? g->first : g->last), true);
    build_forward_expand(g->nodes, x);
}

/* Frequencies, and keys as a sink would be: weights of the first backend, in nodes whose neighbours are on the last one. */
void small_weights(struct graph* g) {
    void* const in = g->in;
    void* const frequencies = new_tensor_1d(g->held, type_f32, n / 2);
    void* const keys = tensor(g->held, false);
    hold(g, backend_get_default_buffer_type(g->first), true);
    void* const positions = new_tensor_1d(in, type_i32, n);
    set_input(positions);
    void* const heads = reshape_3d(in, start(g), n, 1, n);
    void* const turned = sqr(in, rope_ext(in, heads, positions, frequencies, n, 0, 0, 10000, 1, 0, 1, 32, 1));
    build_forward_expand(g->nodes, turned);
    void* const query = reshape_3d(in, start(g), n, n, 1);
    void* const seen = flash_attn_ext(in, query, reshape_3d(in, keys, n, n, 1), tensor(in, true), NULL, 1, 0, 0);
    build_forward_expand(g->nodes, sqr(in, seen));
    void* const direct = flash_attn_ext(in, reshape_3d(in, start(g), n, n, 1), keys, tensor(in, true), NULL, 1, 0, 0);
    build_forward_expand(g->nodes, sqr(in, direct));
}

/* Memory that is there before the graph, but not as weights: as a cache is. */
void no_weights(struct graph* g) {
    void* const cache = tensor(g->held, false);
    hold(g, backend_get_default_buffer_type(g->first), false);
    build_forward_expand(g->nodes, sqr(g->in, mul_mat(g->in, cache, start(g))));
}

/* Written into such memory, whole and in part. */
void into_memory(struct graph* g) {
    void* const cache = tensor(g->held, false);
    void* const other = tensor(g->held, false);
    hold(g, backend_get_default_buffer_type(g->first), false);
    void* const x = start(g);
    build_forward_expand(g->nodes, sqr(g->in, cpy(g->in, x, cache)));
    void* const row = view_1d(g->in, other, n, sizeof(float) * n);
    build_forward_expand(g->nodes, cpy(g->in, view_1d(g->in, x, n, 0), row));
    build_forward_expand(g->nodes, pinned(g, g->last, sqr(g->in, view_1d(g->in, other, n, 0))));
}

/* A view that no operator made: it is among the leafs. */
void leaf_that_is_a_view(struct graph* g) {
    void* const x = pinned(g, g->first, sqr(g->in, tensor(g->in, true)));
    build_forward_expand(g->nodes, x);
    build_forward_expand(g->nodes, pinned(g, g->last, sqr(g->in, view_tensor(g->in, x))));
}

/* The first node is a view, of a leaf that gets its backend from a node behind it. */
void view_before_its_source(struct graph* g) {
    void* const leaf = tensor(g->in, false);
    void* const part = view_1d(g->in, leaf, n, 0);
    build_forward_expand(g->nodes, part);
    build_forward_expand(g->nodes, pinned(g, g->last, sqr(g->in, leaf)));
    build_forward_expand(g->nodes, pinned(g, g->last, sqr(g->in, part)));
}

/* The second of three backends has a node, does not support the one behind it, but those that follow. */
void gap_of_what_is_not_supported(struct graph* g) {
    void* const in = g->in;
    void* const x = pinned(g, g->second, sqr(in, tensor(in, true)));
    void* const product = out_prod(in, x, tensor(in, true));
    build_forward_expand(g->nodes, sqr(in, add(in, product, tensor(in, true))));
}

/* Weights in the memory of a backend that does not support what reads them. */
void weight_that_its_backend_cannot_use(struct graph* g) {
    void* const weight = tensor(g->held, false);
    hold(g, backend_get_default_buffer_type(g->first), true);
    build_forward_expand(g->nodes, sqr(g->in, or_else(g, out_prod(g->in, weight, tensor(g->in, true)))));
}

/* A batch that is worth it, of weights in host memory; the last operator is one that accelerators don't support. */
void offloaded(struct graph* g) {
    void* const weight = tensor(g->held, false);
    void* const other = tensor(g->held, false);
    hold(g, backend_get_default_buffer_type(g->last), true);
    void* const x = mul_mat(g->in, weight, tensor(g->in, true));
    build_forward_expand(g->nodes, out_prod(g->in, other, x));
}

/* The same, of weights that only the CPU can read. */
void repacked(struct graph* g) {
    void* const weight = new_tensor_2d(g->held, type_q4_0, n, n);
    hold(g, repack_buffer_type != NULL ? repack_buffer_type() : backend_get_default_buffer_type(g->last), true);
    void* const product = mul_mat(g->in, weight, tensor(g->in, true));
    build_forward_expand(g->nodes, sqr(g->in, or_else(g, product))); /* not every processor has the instructions for it */
}
