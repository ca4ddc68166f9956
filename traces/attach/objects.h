#pragma once

#include <stddef.h>
#include <stdint.h>

/// Which object of the program calls, and the function that it would have called without us. Looked up for each object by itself:
/// a program may hold two copies of ggml, each of which calls its own.
namespace schedscope::attach {

#define SCHEDSCOPE_EXPORTED __attribute__((visibility("default")))

/// Functions of ggml that are interposed, by name.
#define SCHEDSCOPE_WATCHED(F)                                                                                                    \
    F(ggml_backend_sched_new)                                                                                                    \
    F(ggml_backend_sched_free)                                                                                                   \
    F(ggml_backend_sched_reserve)                                                                                                \
    F(ggml_backend_sched_reserve_size)                                                                                           \
    F(ggml_backend_sched_split_graph)                                                                                            \
    F(ggml_backend_sched_alloc_graph)                                                                                            \
    F(ggml_backend_sched_graph_compute_async)                                                                                    \
    F(ggml_backend_sched_set_eval_callback)                                                                                      \
    F(ggml_backend_free)                                                                                                         \
    F(ggml_backend_sched_synchronize)                                                                                            \
    F(ggml_gallocr_reserve_n)                                                                                                    \
    F(ggml_gallocr_reserve_n_size)                                                                                               \
    F(ggml_gallocr_alloc_graph)                                                                                                  \
    F(ggml_graph_view)                                                                                                           \
    F(ggml_backend_buft_alloc_buffer)                                                                                            \
    F(ggml_backend_graph_compute_async)                                                                                          \
    F(ggml_backend_tensor_copy)                                                                                                  \
    F(ggml_backend_tensor_set_async)                                                                                             \
    F(ggml_backend_synchronize)
/// All that is. The last of them only where the library was there before the program.
#define SCHEDSCOPE_INTERPOSED(F)                                                                                                 \
    SCHEDSCOPE_WATCHED(F)                                                                                                        \
    F(execve)                                                                                                                    \
    F(execvpe)                                                                                                                   \
    F(fexecve)                                                                                                                   \
    F(execveat)

enum class Fn : int {
#define F(name) name,
    SCHEDSCOPE_INTERPOSED(F)
#undef F
        count
};

/// The function of this name that the code at `caller` meant. Null: there is none.
void* real_function(Fn function, const void* caller);

/// What calls of `object` (an address in it) led to before they led to us.
void set_real_function(Fn function, const void* object, void* real);

/// The object that holds an address: a handle for find_in that stays valid, and its path. Null: it has none.
struct Object {
    void* handle;
    const char* path;
};
Object object_of(const void* address);
void* find_in(void* handle, const char* name); ///< in it and in what it needs

/// Shows each object that is loaded: its path, and where it begins and ends.
using LookAtObject = void(const char* path, uintptr_t begin, uintptr_t end, void* data);
void for_each_object(LookAtObject* look, void* data);

/// The build-id of the object that holds an address, in hexadecimal; "" if it has none.
void build_id_of(const void* address, char* text, size_t bytes);

} // namespace schedscope::attach
