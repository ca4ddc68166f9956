/* A program with graphs, weights and backends of its own, on the libraries of a released ggml:
 *
 *     own_graph [--stages] [--devices N] [--types] LIBRARY…
 *
 * Three backends: N devices of Vulkan (0 to 2), the others on the CPU. --stages: inputs are kept once for each of several
 * stages. --types: the scheduler is told where to put tensors; the CPU's lie where the first device reads them. Plans for its
 * memory first, then computes batches of three sizes and with two schedulers in turn, and says what comes out. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { width = 32, n_words = 48, most_tokens = 12, n_backends = 3, type_f32 = 0, type_i32 = 26, weights = 1 };

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

#define FUNCTIONS(F)                                                                                                             \
    F(void*, init, (struct parameters))                                                                                          \
    F(void, free, (void*))                                                                                                       \
    F(void*, new_tensor_1d, (void*, int, int64_t))                                                                               \
    F(void*, new_tensor_2d, (void*, int, int64_t, int64_t))                                                                      \
    F(void*, get_rows, (void*, void*, void*))                                                                                    \
    F(void*, add, (void*, void*, void*))                                                                                         \
    F(void*, mul_mat, (void*, void*, void*))                                                                                     \
    F(void*, rms_norm, (void*, void*, float))                                                                                    \
    F(void*, scale, (void*, void*, float))                                                                                       \
    F(void*, silu, (void*, void*))                                                                                               \
    F(void*, soft_max, (void*, void*))                                                                                           \
    F(void*, cpy, (void*, void*, void*))                                                                                         \
    F(void*, view_1d, (void*, void*, int64_t, size_t))                                                                           \
    F(void*, reshape_1d, (void*, void*, int64_t))                                                                                \
    F(void*, set_name, (void*, const char*))                                                                                     \
    F(void, set_input, (void*))                                                                                                  \
    F(void, set_output, (void*))                                                                                                 \
    F(void*, new_graph, (void*))                                                                                                 \
    F(void, build_forward_expand, (void*, void*))                                                                                \
    F(void*, backend_cpu_init, (void))                                                                                           \
    F(void, backend_free, (void*))                                                                                               \
    F(void*, backend_alloc_ctx_tensors, (void*, void*))                                                                          \
    F(void, backend_buffer_free, (void*))                                                                                        \
    F(void, backend_buffer_set_usage, (void*, int))                                                                              \
    F(void*, backend_get_default_buffer_type, (void*))                                                                           \
    F(void, backend_tensor_set, (void*, const void*, size_t, size_t))                                                            \
    F(void, backend_tensor_get, (const void*, void*, size_t, size_t))                                                            \
    F(void*, backend_sched_new, (void**, void**, int, size_t, bool, bool))                                                       \
    F(void, backend_sched_free, (void*))                                                                                         \
    F(void, backend_sched_reset, (void*))                                                                                        \
    F(bool, backend_sched_reserve, (void*, void*))                                                                               \
    F(void, backend_sched_set_tensor_backend, (void*, void*, void*))                                                             \
    F(bool, backend_sched_alloc_graph, (void*, void*))                                                                           \
    F(int, backend_sched_graph_compute, (void*, void*))
#define F(result, name, parameters) static result(*name) parameters;
FUNCTIONS(F)
#undef F

static void *table, *weight[n_backends], *state; /* a weight on each backend, and what stays there from run to run */
static void* backends[n_backends];

/* Numbers that are the same everywhere. */
static void fill(void* tensor, int64_t n, uint32_t seed) {
    static float values[width * n_words];
    for (int64_t i = 0; i < n; ++i) {
        seed = seed * 1664525U + 1013904223U;
        values[i] = (float)(seed >> 8) / (float)(1U << 24) - 0.5F;
    }
    backend_tensor_set(tensor, values, 0, (size_t)n * sizeof *values);
}

struct built {
    void *graph, *words, *extra, *pinned, *out;
};

static struct built build(void* context, int n_tokens) {
    struct built b;
    b.words = new_tensor_1d(context, type_i32, n_tokens);
    set_name(b.words, "words");
    set_input(b.words);
    b.extra = new_tensor_2d(context, type_f32, width, n_tokens);
    set_name(b.extra, "extra");
    set_input(b.extra);
    void* const start = add(context, get_rows(context, table, b.words), b.extra);
    void* const first = silu(context, mul_mat(context, weight[0], rms_norm(context, start, 1e-5F)));
    void* const second = mul_mat(context, weight[1], first);
    void* const kept = cpy(context, reshape_1d(context, second, (int64_t)width * n_tokens),
                           view_1d(context, state, (int64_t)width * n_tokens, 0));
    b.pinned = scale(context, second, 0.5F);
    set_name(b.pinned, "pinned");
    void* const third = mul_mat(context, weight[2], add(context, b.pinned, b.extra));
    b.out = soft_max(context, add(context, third, first));
    set_name(b.out, "out");
    set_output(b.out);
    b.graph = new_graph(context);
    build_forward_expand(b.graph, kept);
    build_forward_expand(b.graph, b.out);
    return b;
}

static char memory[2][1 << 20];

static bool compute(void* sched, int n_tokens, int round, bool reserve) {
    void* const context = init((struct parameters){sizeof memory[1], memory[1], true});
    const struct built b = build(context, n_tokens);
    if (reserve) {
        const bool done = backend_sched_reserve(sched, b.graph);
        free(context);
        return done;
    }
    backend_sched_reset(sched);
    backend_sched_set_tensor_backend(sched, b.pinned, backends[n_backends - 1]);
    if (!backend_sched_alloc_graph(sched, b.graph)) {
        return false;
    }
    int32_t words[most_tokens];
    for (int i = 0; i < n_tokens; ++i) {
        words[i] = (i * 7 + round) % n_words;
    }
    backend_tensor_set(b.words, words, 0, (size_t)n_tokens * sizeof *words);
    fill(b.extra, (int64_t)width * n_tokens, (uint32_t)round);
    if (backend_sched_graph_compute(sched, b.graph) != 0) {
        return false;
    }
    float out[width];
    backend_tensor_get(b.out, out, 0, sizeof out);
    printf("%d of %d: %.5f %.5f %.5f\n", round, n_tokens, (double)out[0], (double)out[1], (double)out[width - 1]);
    free(context);
    return true;
}

int main(int argc, char** argv) {
    bool stages = false, types = false;
    int n_devices = 0;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--stages") == 0) {
            stages = true;
        } else if (strcmp(argv[i], "--types") == 0) {
            types = true;
        } else if (strcmp(argv[i], "--devices") == 0 && i + 1 < argc) {
            n_devices = argv[++i][0] - '0';
        } else if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
#define F(result, name, parameters)                                                                                              \
    *(void**)&name = find("ggml_" #name);                                                                                        \
    if (name == NULL) {                                                                                                          \
        return 2;                                                                                                                \
    }
    FUNCTIONS(F)
#undef F
    for (int i = 0; i < n_backends; ++i) {
        void* (*device)(size_t) = NULL;
        if (i < n_devices) {
            *(void**)&device = find("ggml_backend_vk_init");
        }
        backends[i] = i >= n_devices ? backend_cpu_init() : device == NULL ? NULL : device((size_t)i);
        if (backends[i] == NULL) {
            return 2;
        }
    }

    void *buffers[n_backends], *contexts[n_backends];
    static char places[n_backends][1 << 12];
    for (int i = 0; i < n_backends; ++i) {
        contexts[i] = init((struct parameters){sizeof places[i], places[i], true});
        weight[i] = new_tensor_2d(contexts[i], type_f32, width, width);
        if (i == 1) {
            state = new_tensor_1d(contexts[i], type_f32, (int64_t)width * most_tokens);
            set_name(state, "state");
        } else if (i == n_backends - 1) {
            table = new_tensor_2d(contexts[i], type_f32, width, n_words);
            set_name(table, "table");
        }
        buffers[i] = backend_alloc_ctx_tensors(contexts[i], backends[i]);
        if (buffers[i] == NULL) {
            return 3;
        }
        backend_buffer_set_usage(buffers[i], weights);
        fill(weight[i], (int64_t)width * width, (uint32_t)i + 17);
    }
    fill(table, (int64_t)width * n_words, 5);
    fill(state, (int64_t)width * most_tokens, 6);

    void* told[n_backends];
    for (int i = 0; i < n_backends; ++i) {
        told[i] = backend_get_default_buffer_type(backends[i]);
    }
    void* (*host)(void) = NULL;
    if (types && n_devices > 0) {
        *(void**)&host = find("ggml_backend_vk_host_buffer_type");
        told[n_backends - 1] = host == NULL ? told[n_backends - 1] : host();
    }
    void* scheds[2];
    for (int i = 0; i < 2; ++i) {
        scheds[i] = backend_sched_new(backends, types ? told : NULL, n_backends, 2048, stages && i == 0, true);
    }
    static const int sizes[] = {4, 4, 12, 1, 1, 1, 7, 4, 1};
    if (!compute(scheds[0], most_tokens, 0, true)) {
        return 3;
    }
    for (int round = 0; round < (int)(sizeof sizes / sizeof *sizes); ++round) {
        if (!compute(scheds[round % 3 == 2 ? 1 : 0], sizes[round], round, false)) {
            return 3;
        }
    }
    float left[width];
    backend_tensor_get(state, left, 0, sizeof left);
    printf("left: %.5f %.5f\n", (double)left[0], (double)left[width - 1]);
    backend_sched_free(scheds[1]);
    backend_sched_free(scheds[0]);
    for (int i = 0; i < n_backends; ++i) {
        backend_buffer_free(buffers[i]);
        free(contexts[i]);
        backend_free(backends[i]);
    }
    return 0;
}
