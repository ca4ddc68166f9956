// Where ggml's structures have what no export tells: objects with known values are made by its own exports, and each value is
// looked for. What stands nowhere, or at two places, is not guessed.

#include "traces/attach/ggml_copy.h"

#include <stdio.h>

namespace schedscope::attach {

namespace {

constexpr int type_f32 = 0, type_i8 = 24, type_i32 = 26; ///< numbers that files have, too: they don't change
constexpr size_t arena_bytes = 1 << 17, data_bytes = 1 << 13;
constexpr int largest_tensor = 1024, largest_graph_head = 256;

class Discovery {
public:
    Discovery(const Exports& call, Layout& at) : call_(call), at_(at) {}

    const char* run() {
        tensor_bytes_ = static_cast<int>(call_.ggml_tensor_overhead());
        if (tensor_bytes_ < 64 || tensor_bytes_ > largest_tensor) {
            return "the size of a tensor";
        }
        memset(arena_, 0, sizeof arena_);
        Context* const context = call_.ggml_init({sizeof arena_, arena_, true});
        if (context == nullptr) {
            return "a context";
        }
        const char* missing = look_at_tensors(context);
        missing = missing != nullptr ? missing : look_at_graph(context);
        missing = missing != nullptr ? missing : look_at_buffer(context);
        call_.ggml_free(context);
        return missing;
    }

private:
    /// The one offset, a multiple of `step`, where `holds` says yes; −1: none or several.
    template <typename F> static int only(int end, int step, const F& holds) {
        int found = -1;
        for (int at = 0; at + step <= end; at += step) {
            if (holds(at)) {
                if (found >= 0) {
                    return -1;
                }
                found = at;
            }
        }
        return found;
    }
    template <typename T> static bool has(const void* structure, int at, T value) { return read_at<T>(structure, at) == value; }

    const char* look_at_tensors(Context* context) {
        const int end = tensor_bytes_;
        const size_t word = sizeof(int64_t);
        Tensor* const t = call_.ggml_new_tensor_4d(context, type_f32, 37, 41, 43, 47);
        Tensor* const i = call_.ggml_new_tensor_1d(context, type_i32, 1009);
        Tensor* const b = call_.ggml_new_tensor_1d(context, type_i8, 1013);
        at_.ne = only(end - 24, word, [&](int o) {
            return has<int64_t>(t, o, 37) && has<int64_t>(t, o + 8, 41) && has<int64_t>(t, o + 16, 43) &&
                   has<int64_t>(t, o + 24, 47);
        });
        at_.nb = only(end - 24, word, [&](int o) {
            return has<int64_t>(t, o, 4) && has<int64_t>(t, o + 8, 4 * 37) && has<int64_t>(t, o + 16, 4 * 37 * 41) &&
                   has<int64_t>(t, o + 24, 4 * 37 * 41 * 43);
        });
        at_.type = only(end, sizeof(int32_t), [&](int o) {
            return has<int32_t>(t, o, type_f32) && has<int32_t>(i, o, type_i32) && has<int32_t>(b, o, type_i8);
        });
        if (at_.ne < 0 || at_.nb < 0) {
            return "a tensor's extents";
        }
        if (at_.type < 0 || strcmp(call_.ggml_type_name(type_i32), "i32") != 0) {
            return "a tensor's type";
        }

        Tensor* const x = call_.ggml_new_tensor_1d(context, type_f32, 1000);
        Tensor* const y = call_.ggml_new_tensor_1d(context, type_f32, 1000);
        Tensor* const sum = call_.ggml_add(context, x, y);
        Tensor* const product = call_.ggml_mul(context, x, y);
        at_.op = only(end, sizeof(int32_t), [&](int o) {
            const auto add = read_at<int32_t>(sum, o), mul = read_at<int32_t>(product, o);
            constexpr int any_version_has = 64; // operators: the names of so many can be asked for
            return has<int32_t>(x, o, 0) && add > 0 && mul > add && mul < any_version_has &&
                   strcmp(call_.ggml_op_name(add), "ADD") == 0 && strcmp(call_.ggml_op_name(mul), "MUL") == 0;
        });
        at_.src = only(end - 8, word, [&](int o) { return has<Tensor*>(sum, o, x) && has<Tensor*>(sum, o + 8, y); });
        if (at_.op < 0) {
            return "a tensor's operator";
        }
        if (at_.src < 0) {
            return "a tensor's sources";
        }
        constexpr float by = 1.2345F;
        Tensor* const scaled = call_.ggml_scale(context, x, by);
        at_.params = only(end, sizeof(float), [&](int o) { return has<float>(scaled, o, by); });
        if (at_.params < 0) {
            return "a tensor's parameters";
        }

        constexpr int64_t offset = 1236;
        Tensor* const view = call_.ggml_view_1d(context, y, 17, offset);
        at_.view_src = only(end, word, [&](int o) { return o != at_.src && has<Tensor*>(view, o, y); });
        at_.view_offset = at_.view_src < 0 ? -1 : at_.view_src + 8; // a view's parameters have the offset, too
        if (at_.view_src < 0 || !has<int64_t>(view, at_.view_offset, offset) || !has<int64_t>(sum, at_.view_offset, 0)) {
            return "the tensor that a view is of";
        }
        at_.n_src = (at_.view_src - at_.src) / static_cast<int>(sizeof(Tensor*));
        if (at_.n_src < 2 || at_.n_src > 16) {
            return "how many sources a tensor has";
        }

        char before[largest_tensor];
        memcpy(before, static_cast<const void*>(y), end);
        call_.ggml_set_input(y);
        at_.flags = only(end, sizeof(int32_t), [&](int o) { return has<int32_t>(y, o, 1) && read_at<int32_t>(before, o) == 0; });
        if (at_.flags < 0) {
            return "a tensor's flags";
        }
        call_.ggml_set_output(y);
        if (!has<int32_t>(y, at_.flags, 3)) {
            return "what a tensor's flags mean";
        }
        at_.name = static_cast<int>(call_.ggml_get_name(y) - reinterpret_cast<const char*>(y));
        return at_.name > 0 && at_.name < end ? nullptr : "a tensor's name";
    }

    const char* look_at_graph(Context* context) {
        constexpr int n_leafs = 7, n_nodes = 5, size = 61;
        Tensor* leafs[n_leafs];
        for (Tensor*& leaf : leafs) {
            leaf = call_.ggml_new_tensor_1d(context, type_f32, 12);
            call_.ggml_set_input(leaf);
        }
        Graph* const graph = call_.ggml_new_graph_custom(context, size, false);
        Tensor* const sum = call_.ggml_add(context, call_.ggml_add(context, leafs[0], leafs[1]), leafs[2]);
        call_.ggml_build_forward_expand(graph, call_.ggml_add(context, sum, leafs[3]));
        call_.ggml_build_forward_expand(graph, call_.ggml_mul(context, leafs[4], leafs[5]));
        call_.ggml_build_forward_expand(graph, call_.ggml_mul(context, leafs[6], leafs[0]));
        if (call_.ggml_graph_n_nodes(graph) != n_nodes) {
            return "a graph of five nodes";
        }
        const int end = largest_graph_head;
        at_.n_nodes = only(end, sizeof(int32_t), [&](int o) { return has<int32_t>(graph, o, n_nodes); });
        at_.n_leafs = only(end, sizeof(int32_t), [&](int o) { return has<int32_t>(graph, o, n_leafs); });
        at_.size = only(end, sizeof(int32_t), [&](int o) { return has<int32_t>(graph, o, size); });
        Tensor** const nodes = call_.ggml_graph_nodes(graph);
        at_.nodes = only(end, sizeof(void*), [&](int o) { return has<Tensor**>(graph, o, nodes); });
        at_.leafs = only(end, sizeof(void*), [&](int o) {
            const auto list = read_at<uintptr_t>(graph, o), begin = reinterpret_cast<uintptr_t>(arena_);
            if (list % sizeof(void*) != 0 || list < begin || list + sizeof leafs > begin + sizeof arena_) {
                return false;
            }
            for (int i = 0; i < n_leafs; ++i) {
                if (!is_among(leafs, n_leafs, reinterpret_cast<Tensor**>(list)[i])) {
                    return false;
                }
            }
            return true;
        });
        return at_.n_nodes < 0 || at_.n_leafs < 0 || at_.size < 0 || at_.nodes < 0 || at_.leafs < 0 ? "a graph's lists" : nullptr;
    }

    static bool is_among(Tensor* const* list, int n, const Tensor* t) {
        for (int i = 0; i < n; ++i) {
            if (list[i] == t) {
                return true;
            }
        }
        return false;
    }

    const char* look_at_buffer(Context* context) {
        alignas(64) static char data[data_bytes];
        Tensor* const t = call_.ggml_new_tensor_1d(context, type_f32, 16);
        Buffer* const buffer = call_.ggml_backend_cpu_buffer_from_ptr(data, sizeof data);
        if (buffer == nullptr) {
            return "a buffer";
        }
        char* const place = data + 256;
        call_.ggml_backend_tensor_alloc(buffer, t, place);
        at_.buffer = only(tensor_bytes_, sizeof(void*), [&](int o) { return has<Buffer*>(t, o, buffer); });
        at_.data = only(tensor_bytes_, sizeof(void*), [&](int o) { return has<void*>(t, o, place); });
        const bool same = call_.ggml_get_data(t) == place;
        call_.ggml_backend_buffer_free(buffer);
        return at_.buffer < 0 || at_.data < 0 || !same ? "a tensor's memory" : nullptr;
    }

    const Exports& call_;
    Layout& at_;
    int tensor_bytes_ = 0;
    alignas(64) static char arena_[arena_bytes];
};

alignas(64) char Discovery::arena_[arena_bytes]; // the lock of the copies is held

} // namespace

bool discover_layout(const Exports& call, Layout& at, char* why, size_t bytes) {
    Discovery discovery(call, at);
    const char* const missing = discovery.run();
    if (missing != nullptr) {
        snprintf(why, bytes, "in this ggml's memory was not found with certainty: %s", missing);
    }
    return missing == nullptr;
}

const char* contradiction(const GgmlCopy& ggml, Graph* graph) {
    const Layout& at = ggml.at;
    const int n_nodes = read_at<int32_t>(graph, at.n_nodes), n_leafs = read_at<int32_t>(graph, at.n_leafs);
    const int size = read_at<int32_t>(graph, at.size);
    if (n_nodes != ggml.call.ggml_graph_n_nodes(graph) || n_leafs < 0 || (size > 0 && (n_nodes > size || n_leafs > size))) {
        return "a graph's counts";
    }
    auto* const nodes = read_at<Tensor**>(graph, at.nodes);
    if (nodes != ggml.call.ggml_graph_nodes(graph)) {
        return "a graph's nodes";
    }
    auto* const leafs = read_at<Tensor**>(graph, at.leafs);
    for (int i = 0; i < n_leafs + n_nodes; ++i) {
        const Tensor* const t = i < n_leafs ? leafs[i] : nodes[i - n_leafs];
        if (t == nullptr || ggml.call.ggml_get_name(t) != reinterpret_cast<const char*>(t) + at.name ||
            ggml.call.ggml_get_data(t) != read_at<void*>(t, at.data)) {
            return "a tensor of a graph";
        }
        if (i < n_leafs && read_at<int32_t>(t, at.op) != 0) {
            return "a graph's leafs";
        }
    }
    return nullptr;
}

} // namespace schedscope::attach
