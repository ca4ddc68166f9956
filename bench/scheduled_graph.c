/* Plans and computes a graph of its own with a released ggml, many times:
 *
 *     scheduled_graph TIMES NODES PLANS LIBRARY…
 *
 * Lines in the file TIMES: "nodes N", then "plan NS" for each plan (a reset, the split, the memory) and "compute NS" for the
 * computations behind it, of which there are as many as a millisecond holds: no program plans all the time. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { context_bytes = 64 << 20, row = 32 };

struct parameters {
    size_t bytes;
    void* memory;
    bool no_alloc;
};

static void* find(const char* name) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) {
        fprintf(stderr, "%s is not there\n", name);
    }
    return found;
}

#define FUNCTION(result, name, parameters)                                                                                       \
    result(*name) parameters;                                                                                                    \
    *(void**)&name = find("ggml_" #name);                                                                                        \
    if (name == NULL)                                                                                                            \
    return 2

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc < 5) {
        return 2;
    }
    const int n_nodes = atoi(argv[2]), n_plans = atoi(argv[3]);
    for (int i = 4; i < argc; ++i) {
        if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
    FUNCTION(void*, init, (struct parameters));
    FUNCTION(void*, new_tensor_2d, (void*, int, int64_t, int64_t));
    FUNCTION(void*, add, (void*, void*, void*));
    FUNCTION(void*, mul, (void*, void*, void*));
    FUNCTION(void*, mul_mat, (void*, void*, void*));
    FUNCTION(void*, rms_norm, (void*, void*, float));
    FUNCTION(void*, reshape_2d, (void*, void*, int64_t, int64_t));
    FUNCTION(void*, format_name, (void*, const char*, ...));
    FUNCTION(void, set_input, (void*));
    FUNCTION(void*, new_graph_custom, (void*, size_t, bool));
    FUNCTION(void, build_forward_expand, (void*, void*));
    FUNCTION(int, graph_n_nodes, (void*));
    FUNCTION(void*, backend_cpu_init, (void));
    FUNCTION(void, backend_cpu_set_n_threads, (void*, int));
    FUNCTION(void*, backend_sched_new, (void**, void**, int, size_t, bool, bool));
    FUNCTION(void, backend_sched_reset, (void*));
    FUNCTION(bool, backend_sched_alloc_graph, (void*, void*));
    FUNCTION(int, backend_sched_graph_compute, (void*, void*));

    /* As a model's: norms, weights, sums and views, with names. */
    void* const context = init((struct parameters){context_bytes, malloc(context_bytes), true});
    void* const graph = new_graph_custom(context, (size_t)n_nodes + 64, false);
    void* x = new_tensor_2d(context, 0, row, 1);
    set_input(x);
    for (int layer = 0; graph_n_nodes(graph) + 6 <= n_nodes; ++layer) {
        void* const weight = new_tensor_2d(context, 0, row, row);
        void* const scale = new_tensor_2d(context, 0, row, 1);
        set_input(format_name(weight, "blk.%d.attn_q.weight", layer) == NULL ? NULL : weight);
        set_input(format_name(scale, "blk.%d.attn_norm.weight", layer) == NULL ? NULL : scale);
        void* const norm = format_name(rms_norm(context, x, 1e-5F), "norm-%d", layer);
        void* const scaled = format_name(mul(context, norm, scale), "attn_norm-%d", layer);
        void* const product = format_name(mul_mat(context, weight, scaled), "Qcur-%d", layer);
        void* const heads = format_name(reshape_2d(context, product, 8, row / 8), "Qcur-%d (reshaped)", layer);
        void* const flat = format_name(reshape_2d(context, heads, row, 1), "Qcur-%d (flat)", layer);
        x = format_name(add(context, x, flat), "l_out-%d", layer);
        build_forward_expand(graph, x);
    }
    void* backend = backend_cpu_init();
    backend_cpu_set_n_threads(backend, 1);
    void* const sched = backend_sched_new(&backend, NULL, 1, (size_t)n_nodes + 64, false, false);
    FILE* const times = fopen(argv[1], "w");
    if (times == NULL || !backend_sched_alloc_graph(sched, graph)) {
        return 3;
    }
    fprintf(times, "nodes %d\n", graph_n_nodes(graph));
    for (int i = 0; i < n_plans; ++i) {
        const int64_t begin = now_ns();
        backend_sched_reset(sched);
        const bool planned = backend_sched_alloc_graph(sched, graph);
        fprintf(times, "plan %lld\n", (long long)(now_ns() - begin));
        int status = planned ? 0 : -1;
        for (int64_t start = now_ns(); start - begin < 1000000 && status == 0; start = now_ns()) {
            status = backend_sched_graph_compute(sched, graph);
            fprintf(times, "compute %lld\n", (long long)(now_ns() - start));
        }
        if (status != 0) {
            return 3;
        }
    }
    return fclose(times) == 0 ? 0 : 3;
}
