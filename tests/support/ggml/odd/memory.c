#include "graphs.h"

/* What may run in place and what may not: read again, an output, viewed, of another shape; free places between others. */
void places(struct graph* g) {
    void* const in = g->in;
    void* const x = tensor(in, true);
    void* const row = new_tensor_2d(in, type_f32, n, 1);
    set_input(row);
    void* const wide = repeat(in, row, x);
    void* const kept = scale(in, wide, 2);
    set_output(kept);
    void* const after = scale(in, kept, 3);
    void* const twice = add(in, after, sqr(in, after));
    void* const seen = sqr(in, twice);
    void* const part = reshape_2d(in, view_1d(in, seen, n, 0), n, 1);
    void* const broad = add(in, seen, part);
    void* const given = sqr(in, broad);
    set_input(given); /* a node that the program writes */
    void* const small = sqr(in, part);
    void* const grown = add(in, repeat(in, small, given), given);
    build_forward_expand(g->nodes, mul(in, grown, x));
}

/* The same nodes on one backend and then on the other: nothing but their memory is another one. */
void there_and_back(struct graph* g) {
    void* x = tensor(g->in, true);
    for (int i = 0; i < 4; ++i) {
        x = pinned(g, g->round % 2 == 0 ? g->first : g->last, add(g->in, x, sqr(g->in, x)));
    }
    build_forward_expand(g->nodes, x);
}

/* What the program writes, and is no leaf: a node that no other reads, and a tensor in neither of the graph's lists. */
void input_that_is_no_leaf(struct graph* g) {
    void* const x = start(g);
    void* const y = add(g->in, x, sqr(g->in, x));
    void* const alone = sqr(g->in, y);
    set_input(alone);
    build_forward_expand(g->nodes, alone);
    graph_add_node(g->nodes, pinned(g, g->last, add(g->in, y, tensor(g->in, true))));
}

/* What is called "wide" needs more than its bytes: who takes its place over leaves the rest to others, or loses it. */
void small_after_wide(struct graph* g) {
    void* const in = g->in;
    void* const row = new_tensor_2d(in, type_f32, n, 4);
    set_input(row);
    void* const wide = mul_mat(in, tensor(in, true), tensor(in, true)); /* products may need more */
    set_name(wide, "wide");
    void* const over = sqr(in, wide);
    void* const small = add(in, row, row);
    build_forward_expand(g->nodes, over);
    build_forward_expand(g->nodes, small);
    build_forward_expand(g->nodes, mul(in, over, repeat(in, small, over)));
}

/* Filled: in the place of what was there before, or not. */
void filled(struct graph* g) {
    void* const x = sqr(g->in, sqr(g->in, tensor(g->in, true)));
    build_forward_expand(g->nodes, sqr(g->in, fill == NULL ? x : fill(g->in, x, 1)));
}

static uint32_t next(uint32_t* state) { return (*state = *state * 1664525 + 1013904223) >> 16; }

/* Tensors of many sizes, each of which lives for a while: of some, none fits what the others left. */
static void lives(struct graph* g, uint32_t state, int largest) {
    enum { at_once = 9, all = 90 };
    void* const in = g->in;
    void* const row = new_tensor_2d(in, type_f32, n, 1);
    set_input(row);
    void* alive[at_once] = {NULL};
    void* total = sum(in, row);
    for (int i = 0; i < all; ++i) {
        void** const which = &alive[next(&state) % at_once];
        if (*which != NULL) {
            total = add(in, total, sum(in, *which));
            build_forward_expand(g->nodes, total);
        }
        const int rows = 1 + (int)(next(&state) % (next(&state) % 4 == 0 ? largest : 40));
        *which = repeat(in, row, new_tensor_2d(in, type_f32, n, rows));
        build_forward_expand(g->nodes, *which);
    }
    for (int i = 0; i < at_once; ++i) {
        total = alive[i] == NULL ? total : add(in, total, sum(in, alive[i]));
    }
    build_forward_expand(g->nodes, total);
}

void mixed_sizes(struct graph* g) { lives(g, (uint32_t)g->round * 7919 + 1, 250); }

/* A smaller graph of the same nodes each time. */
void sizes_by_round(struct graph* g) {
    void* const in = g->in;
    void* const row = new_tensor_2d(in, type_f32, n, g->round == 0 ? 64 : 16);
    set_input(row);
    void* x = add(in, row, row);
    for (int i = 0; i < 4; ++i) {
        x = add(in, mul(in, x, sqr(in, x)), x);
    }
    build_forward_expand(g->nodes, x);
}
