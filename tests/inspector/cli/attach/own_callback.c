/* A program with a graph of its own and a callback that looks at some of its nodes, on a released ggml:
 *
 *     own_callback LIBRARY…
 *
 * Says what the callback was asked and shown, and what came out. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct parameters {
    size_t bytes;
    void* memory;
    bool no_alloc;
};

static const char* (*get_name)(const void*);
static void (*tensor_get)(const void*, void*, size_t, size_t);
static void (*tensor_set)(void*, const void*, size_t, size_t);

static bool look(void* node, bool ask, void* data) {
    const char* const name = get_name(node);
    *(int*)data += 1;
    if (ask) {
        printf("asked %s\n", name);
        return strcmp(name, "product") == 0;
    }
    float values[4] = {0};
    tensor_get(node, values, 0, sizeof values);
    printf("shown %s %g %g\n", name, (double)values[0], (double)values[3]);
    return true;
}

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

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
    FUNCTION(void*, init, (struct parameters));
    FUNCTION(void*, new_tensor_1d, (void*, int, int64_t));
    FUNCTION(void*, add, (void*, void*, void*));
    FUNCTION(void*, mul, (void*, void*, void*));
    FUNCTION(void*, set_name, (void*, const char*));
    FUNCTION(void, set_input, (void*));
    FUNCTION(void*, new_graph, (void*));
    FUNCTION(void, build_forward_expand, (void*, void*));
    FUNCTION(void*, backend_cpu_init, (void));
    FUNCTION(void*, backend_sched_new, (void**, void**, int, size_t, bool, bool));
    FUNCTION(bool, backend_sched_alloc_graph, (void*, void*));
    FUNCTION(int, backend_sched_graph_compute, (void*, void*));
    FUNCTION(void, backend_sched_set_eval_callback, (void*, bool (*)(void*, bool, void*), void*));
    *(void**)&get_name = find("ggml_get_name");
    *(void**)&tensor_get = find("ggml_backend_tensor_get");
    *(void**)&tensor_set = find("ggml_backend_tensor_set");

    static char memory[1 << 20];
    void* const context = init((struct parameters){sizeof memory, memory, true});
    void* const a = new_tensor_1d(context, 0, 4);
    void* const b = new_tensor_1d(context, 0, 4);
    set_input(a);
    set_input(b);
    void* const sum = add(context, a, b);
    set_name(sum, "sum");
    void* const product = mul(context, sum, b);
    set_name(product, "product");
    void* const last = add(context, product, a);
    set_name(last, "last");
    void* const graph = new_graph(context);
    build_forward_expand(graph, last);

    void* backend = backend_cpu_init();
    void* const sched = backend_sched_new(&backend, NULL, 1, 2048, false, false);
    int n_calls = 0;
    backend_sched_set_eval_callback(sched, look, &n_calls);
    const float numbers[4] = {1, 2, 3, 4};
    float result[4] = {0};
    if (!backend_sched_alloc_graph(sched, graph)) {
        return 3;
    }
    tensor_set(a, numbers, 0, sizeof numbers);
    tensor_set(b, numbers, 0, sizeof numbers);
    if (backend_sched_graph_compute(sched, graph) != 0) {
        return 3;
    }
    tensor_get(last, result, 0, sizeof result);
    printf("%g %g %g %g after %d calls\n", (double)result[0], (double)result[1], (double)result[2], (double)result[3], n_calls);
    return 0;
}
