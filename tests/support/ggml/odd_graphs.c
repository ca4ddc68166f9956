/* Graphs that models don't have, planned by a released ggml on backends that programs seldom have together: for the rules of its
 * scheduler that no model shows.
 *
 *     odd_graphs LIBRARY…
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { context_bytes = 16 << 20, most_nodes = 2048, n = 64, many = 70, weights = 1 };

struct parameters {
    size_t bytes;
    void* memory;
    bool no_alloc;
};

static bool missing = false;
static void* find(const char* name) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) {
        fprintf(stderr, "%s is not there\n", name);
        missing = true;
    }
    return found;
}

#define FUNCTIONS(F)                                                                                                             \
    F(void*, init, (struct parameters))                                                                                          \
    F(void*, new_tensor_2d, (void*, int, int64_t, int64_t))                                                                      \
    F(void*, add, (void*, void*, void*))                                                                                         \
    F(void*, mul, (void*, void*, void*))                                                                                         \
    F(void*, mul_mat, (void*, void*, void*))                                                                                     \
    F(void*, scale, (void*, void*, float))                                                                                       \
    F(void*, sqr, (void*, void*))                                                                                                \
    F(void*, repeat, (void*, void*, void*))                                                                                      \
    F(void*, cont, (void*, void*))                                                                                               \
    F(void*, transpose, (void*, void*))                                                                                          \
    F(void*, view_1d, (void*, void*, int64_t, size_t))                                                                           \
    F(void*, reshape_2d, (void*, void*, int64_t, int64_t))                                                                       \
    F(void, set_input, (void*))                                                                                                  \
    F(void, set_output, (void*))                                                                                                 \
    F(void*, new_graph_custom, (void*, size_t, bool))                                                                            \
    F(void, build_forward_expand, (void*, void*))                                                                                \
    F(void*, backend_cpu_init, (void))                                                                                           \
    F(void*, backend_alloc_ctx_tensors, (void*, void*))                                                                          \
    F(void, backend_buffer_set_usage, (void*, int))                                                                              \
    F(void*, backend_sched_new, (void**, void**, int, size_t, bool, bool))                                                       \
    F(void, backend_sched_free, (void*))                                                                                         \
    F(void, backend_sched_reset, (void*))                                                                                        \
    F(void, backend_sched_set_tensor_backend, (void*, void*, void*))                                                             \
    F(bool, backend_sched_reserve, (void*, void*))                                                                               \
    F(bool, backend_sched_alloc_graph, (void*, void*))

#define F(result, name, parameters) static result(*name) parameters;
FUNCTIONS(F)
#undef F
static void (*free_context)(void*); /* old builds have room for 64 */

static void* context(void) { return init((struct parameters){context_bytes, malloc(context_bytes), true}); }
static void* tensor(void* in, bool input) {
    void* const t = new_tensor_2d(in, 0, n, n);
    if (input) {
        set_input(t);
    }
    return t;
}

/* A chain on the first backend that reads many tensors of the last one, more than a split has room for. */
static void* many_inputs(void* in, void* graph, void* sched, void* first, int n_inputs) {
    void* x = tensor(in, true);
    for (int i = 0; i < n_inputs; ++i) {
        x = add(in, x, tensor(in, true));
        backend_sched_set_tensor_backend(sched, x, first);
    }
    build_forward_expand(graph, x);
    return x;
}

/* Nothing says where these run: whoever can read most is taken. Views of what has no place yet, nodes read by views alone. */
static void* no_place(void* in, void* graph) {
    void* const a = tensor(in, true);
    void* const b = tensor(in, true);
    void* const sum = add(in, a, b);
    void* const part = view_1d(in, sum, n, sizeof(float) * n);
    void* const square = sqr(in, part);
    void* const turned = cont(in, transpose(in, sum));
    void* const again = mul(in, turned, b);
    build_forward_expand(graph, square);
    build_forward_expand(graph, again);
    build_forward_expand(graph, view_1d(in, again, n, 0));
    return again;
}

/* What may run in place and what may not: read again, an output, viewed, of another shape; free places between others. */
static void* places(void* in, void* graph) {
    void* const x = tensor(in, true);
    void* const row = new_tensor_2d(in, 0, n, 1);
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
    void* const last = mul(in, grown, x);
    build_forward_expand(graph, last);
    return last;
}

/* Weights that lie with one backend, read by nodes that are pinned to another. */
static void* weighty(void* in, void* held, void* graph, void* sched, void* first, void* last) {
    void* x = tensor(in, true);
    for (int i = 0; i < 6; ++i) {
        void* const weight = tensor(held, false);
        x = mul_mat(in, weight, add(in, x, tensor(held, false)));
        backend_sched_set_tensor_backend(sched, x, i % 3 == 0 ? first : last);
        x = i % 2 == 0 ? sqr(in, x) : x;
    }
    build_forward_expand(graph, x);
    return x;
}

static void plan_all(void** backends, int n_backends, bool parallel) {
    void* const first = backends[0];
    void* const last = backends[n_backends - 1];
    void* const sched = backend_sched_new(backends, NULL, n_backends, most_nodes, parallel, true);
    for (int round = 0; round < 12; ++round) {
        void* const in = context();
        void* const held = context();
        void* const graph = new_graph_custom(in, most_nodes, false);
        backend_sched_reset(sched);
        if (round % 4 == 0) {
            many_inputs(in, graph, sched, first, round == 4 ? 31 : many);
        } else if (round % 4 == 1) {
            no_place(in, graph);
        } else if (round % 4 == 2) {
            places(in, graph);
        } else {
            weighty(in, held, graph, sched, first, last);
            backend_buffer_set_usage(backend_alloc_ctx_tensors(held, round == 7 ? first : last), weights);
        }
        if ((round == 8 || round == 10) && !backend_sched_reserve(sched, graph)) {
            exit(3);
        }
        if (!backend_sched_alloc_graph(sched, graph)) {
            exit(3);
        }
        free_context(in);
        free_context(held);
    }
    backend_sched_free(sched);
}

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
#define F(result, name, parameters) *(void**)&name = find("ggml_" #name);
    FUNCTIONS(F)
#undef F
    *(void**)&free_context = find("ggml_free");
    if (missing) {
        return 2;
    }
    void* (*vk_init)(size_t);
    *(void**)&vk_init = dlsym(RTLD_DEFAULT, "ggml_backend_vk_init");
    void* const device = vk_init == NULL ? NULL : vk_init(0);
    void* const one = backend_cpu_init();
    void* const other = backend_cpu_init();
    plan_all((void*[]){one, other}, 2, false);
    if (device != NULL) {
        plan_all((void*[]){device, one}, 2, false);
        plan_all((void*[]){device, one, other}, 3, false);
    }
    return 0;
}
