#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// A copy of ggml in this process: its own exports, and where its structures have what no export tells. Nothing of its layout is
/// known before it was looked at.
namespace schedscope::attach {

// ggml's structures, of which only addresses are known here.
struct Tensor;
struct Graph;
struct Context;
struct Sched;
struct Backend;
struct Buffer;
struct BufferType;
struct Device;
struct Event;
struct Gallocr;

/// Of the scheduler: with `ask`, is this node to be seen? Without, here it is: false ends the computation.
using EvalCallback = bool(Tensor* node, bool ask, void* data);

struct InitParams { ///< of ggml_init, passed by value
    size_t mem_size;
    void* mem_buffer;
    bool no_alloc;
};

/// Exports that are called. All must be there, but those of the second list.
#define SCHEDSCOPE_GGML_EXPORTS(F)                                                                                               \
    F(Context*, ggml_init, (InitParams params))                                                                                  \
    F(void, ggml_free, (Context * context))                                                                                      \
    F(size_t, ggml_tensor_overhead, ())                                                                                          \
    F(Tensor*, ggml_new_tensor_1d, (Context * context, int type, int64_t n))                                                     \
    F(Tensor*, ggml_new_tensor_4d, (Context * context, int type, int64_t n0, int64_t n1, int64_t n2, int64_t n3))                \
    F(Tensor*, ggml_add, (Context * context, Tensor * a, Tensor * b))                                                            \
    F(Tensor*, ggml_mul, (Context * context, Tensor * a, Tensor * b))                                                            \
    F(Tensor*, ggml_scale, (Context * context, Tensor * a, float by))                                                            \
    F(Tensor*, ggml_view_1d, (Context * context, Tensor * a, int64_t n, size_t offset))                                          \
    F(const char*, ggml_get_name, (const Tensor* t))                                                                             \
    F(void*, ggml_get_data, (const Tensor* t))                                                                                   \
    F(void, ggml_set_input, (Tensor * t))                                                                                        \
    F(void, ggml_set_output, (Tensor * t))                                                                                       \
    F(Graph*, ggml_new_graph_custom, (Context * context, size_t size, bool grads))                                               \
    F(size_t, ggml_graph_overhead_custom, (size_t size, bool grads))                                                             \
    F(void, ggml_build_forward_expand, (Graph * graph, Tensor * t))                                                              \
    F(int, ggml_graph_n_nodes, (Graph * graph))                                                                                  \
    F(Tensor**, ggml_graph_nodes, (Graph * graph))                                                                               \
    F(const char*, ggml_op_name, (int op))                                                                                       \
    F(const char*, ggml_type_name, (int type))                                                                                   \
    F(Buffer*, ggml_backend_cpu_buffer_from_ptr, (void* ptr, size_t size))                                                       \
    F(void, ggml_backend_tensor_alloc, (Buffer * buffer, Tensor * t, void* address))                                             \
    F(void, ggml_backend_buffer_free, (Buffer * buffer))                                                                         \
    F(BufferType*, ggml_backend_buffer_get_type, (Buffer * buffer))                                                              \
    F(int, ggml_backend_buffer_get_usage, (Buffer * buffer))                                                                     \
    F(void*, ggml_backend_buffer_get_base, (Buffer * buffer))                                                                    \
    F(const char*, ggml_backend_buft_name, (BufferType * type))                                                                  \
    F(bool, ggml_backend_buft_is_host, (BufferType * type))                                                                      \
    F(size_t, ggml_backend_buft_get_alignment, (BufferType * type))                                                              \
    F(size_t, ggml_backend_buft_get_max_size, (BufferType * type))                                                               \
    F(size_t, ggml_backend_buft_get_alloc_size, (BufferType * type, const Tensor* t))                                            \
    F(const char*, ggml_backend_name, (Backend * backend))                                                                       \
    F(BufferType*, ggml_backend_get_default_buffer_type, (Backend * backend))                                                    \
    F(bool, ggml_backend_supports_op, (Backend * backend, const Tensor* op))                                                     \
    F(bool, ggml_backend_supports_buft, (Backend * backend, BufferType * type))                                                  \
    F(bool, ggml_backend_offload_op, (Backend * backend, const Tensor* op))                                                      \
    F(void, ggml_backend_synchronize, (Backend * backend))                                                                       \
    F(int, ggml_backend_sched_get_n_backends, (Sched * sched))                                                                   \
    F(Backend*, ggml_backend_sched_get_backend, (Sched * sched, int i))                                                          \
    F(int, ggml_backend_sched_get_n_copies, (Sched * sched))                                                                     \
    F(int, ggml_backend_sched_get_n_splits, (Sched * sched))                                                                     \
    F(Backend*, ggml_backend_sched_get_tensor_backend, (Sched * sched, Tensor * t))                                              \
    F(size_t, ggml_nbytes, (const Tensor* t))
#define SCHEDSCOPE_GGML_WISHES(F)                                                                                                \
    F(const char*, ggml_commit, ())                                                                                              \
    F(const char*, ggml_version, ())                                                                                             \
    F(const void*, ggml_backend_guid, (Backend * backend))                                                                       \
    F(Device*, ggml_backend_get_device, (Backend * backend))                                                                     \
    F(void, ggml_backend_event_wait, (Backend * backend, Event * event))                                                         \
    F(const char*, ggml_backend_dev_name, (Device * device))                                                                     \
    F(const char*, ggml_backend_dev_description, (Device * device))                                                              \
    F(void, ggml_backend_dev_memory, (Device * device, size_t * free, size_t * total))                                           \
    F(void, ggml_backend_sched_split_graph, (Sched * sched, Graph * graph))                                                      \
    F(BufferType*, ggml_backend_sched_get_buffer_type, (Sched * sched, Backend * backend))                                       \
    F(void, ggml_backend_sched_set_eval_callback, (Sched * sched, EvalCallback * callback, void* data))                          \
    F(void, ggml_backend_tensor_get, (const Tensor* t, void* data, size_t offset, size_t size))

struct Exports {
#define F(result, name, parameters) result(*name) parameters; // NOLINT(bugprone-macro-parentheses): they make a declaration
    SCHEDSCOPE_GGML_EXPORTS(F)
    SCHEDSCOPE_GGML_WISHES(F)
#undef F
};

/// Offsets in bytes.
struct Layout {
    // of a tensor
    int type, buffer, ne, nb, op, params, flags, src, n_src, view_src, view_offset, data, name;
    // of a graph
    int size, n_nodes, n_leafs, nodes, leafs;
};

constexpr int pointer_bytes = static_cast<int>(sizeof(void*));

struct GgmlCopy {
    Exports call;
    Layout at;
    int index; ///< among the copies of this process
    bool usable;
    int optimiser_slot; ///< in a backend, in bytes; −1: none (optimiser_slot.h)
    bool splits_unseen; ///< it exports split_graph and calls it within itself, past us
    char why_not[192];
    char path[512], build_id[64], builds[32]; ///< builds: of llama.cpp that it may come from: "b3890..b4109", as build_span says
};

template <typename T> T read_at(const void* structure, int offset) {
    T value;
    memcpy(&value, static_cast<const char*>(structure) + offset,
           sizeof(T)); // NOLINT(bugprone-sizeof-expression): of a pointer, too
    return value;
}

/// The copy that this function belongs to, looked at when it is met for the first time. Null: there are too many.
GgmlCopy* copy_of(const void* sched_new);

/// Finds the layout with small objects that the exports themselves make. False: `why` says what was not found, or found twice.
bool discover_layout(const Exports& call, Layout& at, char* why, size_t bytes);
/// Does a graph of the program's own look as the layout says? Null: yes; else what does not.
const char* contradiction(const GgmlCopy& ggml, Graph* graph);

} // namespace schedscope::attach
