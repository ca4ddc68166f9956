#include "graphs.h"

enum { many = 70 };

/* A chain on the first backend that reads many tensors of the last one, more than a split has room for. */
void many_inputs(struct graph* g) {
    const int n_inputs = g->round == 4 ? 31 : many;
    void* x = tensor(g->in, true);
    for (int i = 0; i < n_inputs; ++i) {
        x = pinned(g, g->first, add(g->in, x, tensor(g->in, true)));
    }
    build_forward_expand(g->nodes, x);
}

/* The same, but each node reads two of them: with 29 there is room for a node, and not for both. Where lists can't grow, ggml
 * ends the program. */
void two_inputs_at_once(struct graph* g) {
    if (!lists_grow) {
        many_inputs(g);
        return;
    }
    void* x = pinned(g, g->first, sqr(g->in, tensor(g->in, true)));
    for (int i = 0; i < many; ++i) {
        void* const both = pinned(g, g->first, mul(g->in, tensor(g->in, true), tensor(g->in, true)));
        x = pinned(g, g->first, add(g->in, x, both));
    }
    build_forward_expand(g->nodes, x);
}

/* On the last backend: what the first one made, which has to be copied, and then weights of the second one, which need not. */
void weight_that_can_be_read(struct graph* g) {
    void* const weight = tensor(g->held, false);
    hold(g, backend_get_default_buffer_type(g->second), true);
    void* const made = pinned(g, g->first, sqr(g->in, tensor(g->in, true)));
    void* const copied = pinned(g, g->last, sqr(g->in, made));
    build_forward_expand(g->nodes, pinned(g, g->last, mul_mat(g->in, weight, copied)));
}
