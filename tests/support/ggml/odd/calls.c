#include "calls.h"

#include <dlfcn.h>
#include <stdio.h>

#define F(result, name, parameters) result(*name) parameters;
FUNCTIONS(F)
#undef F
void* (*fill)(void*, void*, float);
void* (*repack_buffer_type)(void);
bool lists_grow;

static void* find(const char* name, bool* missing) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) {
        fprintf(stderr, "%s is not there\n", name);
        *missing = true;
    }
    return found;
}

bool find_calls(int n_libraries, char** libraries) {
    for (int i = 0; i < n_libraries; ++i) {
        if (dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return false;
        }
    }
    bool missing = false;
#define F(result, name, parameters) *(void**)&name = find("ggml_" #name, &missing);
    FUNCTIONS(F)
#undef F
    *(void**)&fill = dlsym(RTLD_DEFAULT, "ggml_fill");
    lists_grow = dlsym(RTLD_DEFAULT, "ggml_build_forward_order") != NULL; /* which came some days later */
    static const char* const repacks[] = {"_Z36ggml_backend_cpu_repack_buffer_typev",
                                          "_Z36ggml_backend_cpu_aarch64_buffer_typev"};
    for (int i = 0; i < 2 && repack_buffer_type == NULL; ++i) {
        *(void**)&repack_buffer_type = dlsym(RTLD_DEFAULT, repacks[i]);
    }
    return !missing;
}

void* tensor(void* in, bool input) {
    void* const t = new_tensor_2d(in, type_f32, n, n);
    if (input) {
        set_input(t);
    }
    return t;
}

void* pinned(struct graph* g, void* to, void* x) {
    backend_sched_set_tensor_backend(g->sched, x, to);
    return x;
}

void* start(struct graph* g) { return pinned(g, g->last, sqr(g->in, tensor(g->in, true))); }

void hold(struct graph* g, void* buffer_type, bool as_weights) {
    void* const buffer = backend_alloc_ctx_tensors_from_buft(g->held, buffer_type);
    if (buffer != NULL && as_weights) {
        backend_buffer_set_usage(buffer, 1);
    }
}
