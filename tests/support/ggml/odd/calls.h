/* What the odd graphs call of a ggml that is opened when the program runs, and what they are built with. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parameters {
    size_t bytes;
    void* memory;
    bool no_alloc;
};

#define FUNCTIONS(F)                                                                                                             \
    F(void*, init, (struct parameters))                                                                                          \
    F(void*, new_tensor_1d, (void*, int, int64_t))                                                                               \
    F(void*, new_tensor_2d, (void*, int, int64_t, int64_t))                                                                      \
    F(const char*, get_name, (const void*))                                                                                      \
    F(void*, set_name, (void*, const char*))                                                                                     \
    F(void*, add, (void*, void*, void*))                                                                                         \
    F(void*, mul, (void*, void*, void*))                                                                                         \
    F(void*, mul_mat, (void*, void*, void*))                                                                                     \
    F(void*, out_prod, (void*, void*, void*))                                                                                    \
    F(void*, scale, (void*, void*, float))                                                                                       \
    F(void*, sqr, (void*, void*))                                                                                                \
    F(void*, sum, (void*, void*))                                                                                                \
    F(void*, repeat, (void*, void*, void*))                                                                                      \
    F(void*, cont, (void*, void*))                                                                                               \
    F(void*, cpy, (void*, void*, void*))                                                                                         \
    F(void*, transpose, (void*, void*))                                                                                          \
    F(void*, view_1d, (void*, void*, int64_t, size_t))                                                                           \
    F(void*, view_tensor, (void*, void*))                                                                                        \
    F(void*, reshape_2d, (void*, void*, int64_t, int64_t))                                                                       \
    F(void*, reshape_3d, (void*, void*, int64_t, int64_t, int64_t))                                                              \
    F(void*, rope_ext, (void*, void*, void*, void*, int, int, int, float, float, float, float, float, float))                    \
    F(void*, flash_attn_ext, (void*, void*, void*, void*, void*, float, float, float))                                           \
    F(void, set_input, (void*))                                                                                                  \
    F(void, set_output, (void*))                                                                                                 \
    F(void*, new_graph_custom, (void*, size_t, bool))                                                                            \
    F(void, build_forward_expand, (void*, void*))                                                                                \
    F(void, graph_add_node, (void*, void*))                                                                                      \
    F(void*, backend_cpu_init, (void))                                                                                           \
    F(void*, backend_cpu_buffer_type, (void))                                                                                    \
    F(void*, backend_get_default_buffer_type, (void*))                                                                           \
    F(bool, backend_supports_op, (void*, void*))                                                                                 \
    F(size_t, backend_buft_get_max_size, (void*))                                                                                \
    F(void*, backend_alloc_ctx_tensors, (void*, void*))                                                                          \
    F(void*, backend_alloc_ctx_tensors_from_buft, (void*, void*))                                                                \
    F(void, backend_buffer_set_usage, (void*, int))                                                                              \
    F(void*, backend_sched_new, (void**, void**, int, size_t, bool, bool))                                                       \
    F(void, backend_sched_free, (void*))                                                                                         \
    F(void, backend_sched_reset, (void*))                                                                                        \
    F(void, backend_sched_set_tensor_backend, (void*, void*, void*))                                                             \
    F(bool, backend_sched_reserve, (void*, void*))                                                                               \
    F(bool, backend_sched_alloc_graph, (void*, void*))

#define F(result, name, parameters) extern result(*name) parameters;
FUNCTIONS(F)
#undef F
/* Null where the build has none. */
extern void* (*fill)(void*, void*, float);
extern void* (*repack_buffer_type)(void); /* the CPU's memory for weights that it has put in another order */
extern bool lists_grow;                   /* a split's inputs are no longer at most 10, or 30 */

/* Opens the libraries. Otherwise says why not. */
bool find_calls(int n_libraries, char** libraries);

enum { n = 64, most_nodes = 2048, type_f32 = 0, type_q4_0 = 2, type_i32 = 26 };

/* One graph on its way to the scheduler. */
struct graph {
    void *in, *held; /* contexts: of the graph, and of what has memory before it is planned */
    void *nodes, *sched;
    void *first, *second, *last; /* backends */
    int round;
};

/* A square; with `input`: that the program writes. */
void* tensor(void* in, bool input);
/* The result of an operator, on this backend. */
void* pinned(struct graph* g, void* to, void* x);
/* x squared, on the last backend: which then spreads to what no weight decides. */
void* start(struct graph* g);
/* Memory for what `held` has, of the buffer type, as weights or as something else. */
void hold(struct graph* g, void* buffer_type, bool as_weights);
