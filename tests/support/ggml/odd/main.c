/* Graphs that models don't have, planned by a released ggml on backends and memory that programs seldom have together: for the
 * rules of its scheduler that no model shows.
 *
 *     odd_graphs LIBRARY…
 */
#include "graphs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*free_context)(void*); /* old builds have room for 64 */
static size_t (*bytes_of)(const void*);

/* Memory of the CPU's that is not the CPU's own: a copy of its buffer type's functions, in the order in which all builds have
 * them. */
struct buffer_type {
    const char* (*name)(void*);
    void* allocate;
    size_t (*alignment)(void*);
    size_t (*max_size)(void*);
    size_t (*allocation)(void*, const void*);
    void* rest[3];
};
static struct buffer_type one_type, other_type, one_limited, other_limited;

static const char* one_name(void* type) { return type == &one_limited ? "CPU_limited" : "CPU_one"; }
static const char* other_name(void* type) { return type == &other_limited ? "CPU_other_limited" : "CPU_other"; }
static size_t small_chunks(void* type) { return type == NULL ? 0 : 64 << 10; }
static size_t more_for_the_wide(void* type, const void* t) {
    return bytes_of(t) + (type != NULL && strcmp(get_name(t), "wide") == 0 ? 4096 : 0);
}

static bool make_buffer_types(void) {
    memcpy(&one_type, backend_cpu_buffer_type(), sizeof one_type);
    one_type.allocation = more_for_the_wide;
    other_type = one_limited = other_limited = one_type;
    one_type.name = one_limited.name = one_name;
    other_type.name = other_limited.name = other_name;
    one_limited.max_size = other_limited.max_size = small_chunks;
    return backend_buft_get_max_size(&one_limited) == small_chunks(&one_limited);
}

struct step {
    void (*build)(struct graph*);
    int round;
    bool reserves;
};
struct scheduler {
    void *backends[3], *types[3];
    bool parallel, offloads;
};

static void* context(void) { return init((struct parameters){16 << 20, malloc(16 << 20), true}); }

/* Up to the step that builds nothing. */
static void plan_all(struct scheduler s, const struct step* step) {
    const int n_backends = s.backends[2] != NULL ? 3 : 2;
    for (int i = 0; i < n_backends; ++i) {
        s.types[i] = s.types[i] != NULL ? s.types[i] : backend_get_default_buffer_type(s.backends[i]);
    }
    void* const sched = backend_sched_new(s.backends, s.types, n_backends, most_nodes, s.parallel, s.offloads);
    for (; step->build != NULL; ++step) {
        struct graph g = {.in = context(), .held = context(), .sched = sched, .round = step->round};
        g.first = s.backends[0];
        g.second = s.backends[1];
        g.last = s.backends[n_backends - 1];
        g.nodes = new_graph_custom(g.in, most_nodes, false);
        backend_sched_reset(sched);
        step->build(&g);
        if ((step->reserves && !backend_sched_reserve(sched, g.nodes)) || !backend_sched_alloc_graph(sched, g.nodes)) {
            exit(3);
        }
        free_context(g.in);
        free_context(g.held);
    }
    backend_sched_free(sched);
}

#define PLAN(graph, round)                                                                                                       \
    { graph, round, false }
#define RESERVE_AND_PLAN(graph, round)                                                                                           \
    { graph, round, true }
#define END                                                                                                                      \
    { NULL, 0, false }

static const struct step on_all[] = {PLAN(many_inputs, 0),
                                     PLAN(no_place, 1),
                                     PLAN(places, 2),
                                     PLAN(weighty, 3),
                                     PLAN(many_inputs, 4),
                                     PLAN(no_place, 5),
                                     PLAN(places, 6),
                                     PLAN(weighty, 7),
                                     RESERVE_AND_PLAN(many_inputs, 8),
                                     PLAN(no_place, 9),
                                     RESERVE_AND_PLAN(places, 10),
                                     PLAN(weighty, 11),
                                     END};
static const struct step on_own_memory[] = {PLAN(small_weights, 0),
                                            PLAN(no_weights, 0),
                                            PLAN(into_memory, 0),
                                            PLAN(leaf_that_is_a_view, 0),
                                            PLAN(view_before_its_source, 0),
                                            PLAN(there_and_back, 0),
                                            PLAN(there_and_back, 1),
                                            PLAN(there_and_back, 2),
                                            PLAN(places, 0),
                                            PLAN(input_that_is_no_leaf, 0),
                                            PLAN(small_after_wide, 0),
                                            PLAN(filled, 0),
                                            PLAN(sizes_by_round, 0),
                                            RESERVE_AND_PLAN(sizes_by_round, 1),
                                            END};
static const struct step with_an_accelerator[] = {PLAN(offloaded, 0),
                                                  PLAN(repacked, 0),
                                                  PLAN(weight_that_its_backend_cannot_use, 0),
                                                  PLAN(two_inputs_at_once, 0),
                                                  PLAN(two_inputs_at_once, 1),
                                                  PLAN(many_inputs, 0),
                                                  END};
static const struct step without_offload[] = {PLAN(offloaded, 0), PLAN(repacked, 0), END};
static const struct step before_two[] = {PLAN(weight_that_can_be_read, 0), PLAN(weighty, 3), END};
static const struct step between_two[] = {PLAN(gap_of_what_is_not_supported, 0), END};

int main(int argc, char** argv) {
    if (!find_calls(argc - 1, argv + 1)) {
        return 2;
    }
    *(void**)&free_context = dlsym(RTLD_DEFAULT, "ggml_free");
    *(void**)&bytes_of = dlsym(RTLD_DEFAULT, "ggml_nbytes");
    if (!make_buffer_types()) {
        fprintf(stderr, "buffer types have other functions in this build\n");
        return 2;
    }
    void* (*vk_init)(size_t);
    *(void**)&vk_init = dlsym(RTLD_DEFAULT, "ggml_backend_vk_init");
    void* const device = vk_init == NULL ? NULL : vk_init(0);
    void* const one = backend_cpu_init();
    void* const other = backend_cpu_init();
    plan_all((struct scheduler){{one, other}, .offloads = true}, on_all);
    plan_all((struct scheduler){{one, other}, {&one_type, &other_type}, .offloads = true}, on_own_memory);
    for (int round = 0; round < 6; ++round) { /* the first builds with chunks end where a buffer has to grow */
        const struct step in_chunks[] = {PLAN(mixed_sizes, round), END};
        plan_all((struct scheduler){{one, other}, {&one_limited, &other_limited}, .offloads = true}, in_chunks);
    }
    if (device != NULL) {
        plan_all((struct scheduler){{device, one}, .offloads = true}, on_all);
        plan_all((struct scheduler){{device, one, other}, .offloads = true}, on_all);
        plan_all((struct scheduler){{device, one}, .offloads = true}, with_an_accelerator);
        plan_all((struct scheduler){{device, one}, .offloads = false}, without_offload);
        plan_all((struct scheduler){{device, one, other}, {NULL, &one_type, &other_type}, .offloads = true}, before_two);
        plan_all((struct scheduler){{one, device, other}, {&one_type, NULL, &other_type}, .offloads = true}, between_two);
    }
    return 0;
}
