// Where a structure has what is discovered by making objects with known values. Here ggml is a made-up library whose structures
// are laid out as each test wants it.

#include "traces/attach/ggml_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <gmock/gmock.h>
#include <vector>

namespace schedscope::attach {
namespace {

using ::testing::HasSubstr;

/// Structures of a made-up ggml: offsets of its own, in bytes.
struct MadeUp {
    Layout at;
    int tensor_bytes, graph_bytes;
    bool doubled_extents = false; ///< they stand twice in a tensor
    bool lies_about_nodes = false;
};
MadeUp made_up;
char* arena_next = nullptr;
int n_nodes_of_graph = 0;

char* bytes_of(void* object) { return static_cast<char*>(object); }
template <typename T> void set(void* object, int offset, T value) {
    std::memcpy(bytes_of(object) + offset, &value, sizeof value);
}

Tensor* new_tensor(int type, const int64_t (&ne)[4], int op) {
    auto* const t = reinterpret_cast<Tensor*>(arena_next);
    arena_next += made_up.tensor_bytes;
    const Layout& at = made_up.at;
    set(t, at.type, type);
    set(t, at.op, op);
    int64_t nb = type == 24 ? 1 : 4;
    for (int d = 0; d < 4; ++d) {
        set(t, at.ne + 8 * d, ne[d]);
        set(t, at.nb + 8 * d, nb);
        if (made_up.doubled_extents) {
            set(t, made_up.tensor_bytes - 32 + 8 * d, ne[d]);
        }
        nb *= ne[d];
    }
    return t;
}
Tensor* new_op(int op, Tensor* a, Tensor* b) {
    Tensor* const t = new_tensor(0, {1000, 1, 1, 1}, op);
    set(t, made_up.at.src, a);
    set(t, made_up.at.src + 8, b);
    return t;
}

Context* init(InitParams params) {
    arena_next = static_cast<char*>(params.mem_buffer);
    n_nodes_of_graph = 0;
    return reinterpret_cast<Context*>(arena_next);
}
void add_to(Graph* graph, Tensor* t) {
    const Layout& at = made_up.at;
    auto* const nodes = read_at<Tensor**>(graph, at.nodes);
    auto* const leafs = read_at<Tensor**>(graph, at.leafs);
    auto n_nodes = read_at<int32_t>(graph, at.n_nodes), n_leafs = read_at<int32_t>(graph, at.n_leafs);
    const bool is_leaf = read_at<int32_t>(t, at.op) == 0;
    if (std::find(nodes, nodes + n_nodes, t) != nodes + n_nodes || std::find(leafs, leafs + n_leafs, t) != leafs + n_leafs) {
        return;
    }
    if (!is_leaf) {
        add_to(graph, read_at<Tensor*>(t, at.src));
        add_to(graph, read_at<Tensor*>(t, at.src + 8));
        n_nodes = read_at<int32_t>(graph, at.n_nodes);
        n_leafs = read_at<int32_t>(graph, at.n_leafs);
    }
    (is_leaf ? leafs[n_leafs] : nodes[n_nodes]) = t;
    set(graph, is_leaf ? at.n_leafs : at.n_nodes, (is_leaf ? n_leafs : n_nodes) + 1);
}

int buffer_object = 0;

Exports exports() {
    Exports e = {};
    e.ggml_init = init;
    e.ggml_free = [](Context*) {};
    e.ggml_tensor_overhead = [] { return static_cast<size_t>(made_up.tensor_bytes); };
    e.ggml_new_tensor_1d = [](Context*, int type, int64_t n) { return new_tensor(type, {n, 1, 1, 1}, 0); };
    e.ggml_new_tensor_4d = [](Context*, int type, int64_t n0, int64_t n1, int64_t n2, int64_t n3) {
        return new_tensor(type, {n0, n1, n2, n3}, 0);
    };
    e.ggml_add = [](Context*, Tensor* a, Tensor* b) { return new_op(2, a, b); };
    e.ggml_mul = [](Context*, Tensor* a, Tensor* b) { return new_op(7, a, b); };
    e.ggml_scale = [](Context*, Tensor* a, float by) {
        Tensor* const t = new_op(30, a, nullptr);
        set(t, made_up.at.params, by);
        return t;
    };
    e.ggml_view_1d = [](Context*, Tensor* a, int64_t n, size_t offset) {
        Tensor* const t = new_op(40, a, nullptr);
        set(t, made_up.at.ne, n);
        set(t, made_up.at.view_src, a);
        set(t, made_up.at.view_offset, offset);
        set(t, made_up.at.params, offset);
        return t;
    };
    e.ggml_get_name = [](const Tensor* t) { return reinterpret_cast<const char*>(t) + made_up.at.name; };
    e.ggml_get_data = [](const Tensor* t) { return read_at<void*>(t, made_up.at.data); };
    e.ggml_set_input = [](Tensor* t) { set(t, made_up.at.flags, read_at<int32_t>(t, made_up.at.flags) | 1); };
    e.ggml_set_output = [](Tensor* t) { set(t, made_up.at.flags, read_at<int32_t>(t, made_up.at.flags) | 2); };
    e.ggml_new_graph_custom = [](Context*, size_t size, bool) {
        auto* const graph = reinterpret_cast<Graph*>(arena_next);
        char* const lists = arena_next + made_up.graph_bytes;
        arena_next = lists + 16 * size;
        set(graph, made_up.at.size, static_cast<int32_t>(size));
        set(graph, made_up.at.nodes, lists);
        set(graph, made_up.at.leafs, lists + 8 * size);
        return graph;
    };
    e.ggml_build_forward_expand = add_to;
    e.ggml_graph_n_nodes = [](Graph* g) { return read_at<int32_t>(g, made_up.at.n_nodes) + (made_up.lies_about_nodes ? 1 : 0); };
    e.ggml_graph_nodes = [](Graph* g) { return read_at<Tensor**>(g, made_up.at.nodes); };
    e.ggml_op_name = [](int op) { return op == 2 ? "ADD" : op == 7 ? "MUL" : "OTHER"; };
    e.ggml_type_name = [](int type) { return type == 26 ? "i32" : "other"; };
    e.ggml_backend_cpu_buffer_from_ptr = [](void*, size_t) { return reinterpret_cast<Buffer*>(&buffer_object); };
    e.ggml_backend_tensor_alloc = [](Buffer* buffer, Tensor* t, void* address) {
        set(t, made_up.at.buffer, buffer);
        set(t, made_up.at.data, address);
    };
    e.ggml_backend_buffer_free = [](Buffer*) {};
    return e;
}

/// As in the table of ATTACH.md, and one that no release has.
const MadeUp old_release = {{0, 8, 16, 48, 80, 84, 148, 160, 10, 240, 248, 256, 264, 0, 4, 8, 16, 32}, 336, 80};
const MadeUp release = {{0, 8, 16, 48, 80, 84, 148, 152, 10, 232, 240, 248, 256, 0, 4, 8, 16, 40}, 336, 88};
const MadeUp of_no_build = {{340, 0, 56, 8, 44, 240, 40, 88, 12, 184, 192, 232, 208, 40, 16, 32, 24, 8}, 352, 64};

void expect_found(const MadeUp& wanted) {
    made_up = wanted;
    Layout at = {};
    char why[192] = "";
    ASSERT_TRUE(discover_layout(exports(), at, why, sizeof why)) << why;
    EXPECT_EQ(std::memcmp(&at, &wanted.at, sizeof at), 0);
}

TEST(AttachLayout, IsFoundWhereverThingsStand) {
    expect_found(old_release);
    expect_found(release);
    expect_found(of_no_build);
}

TEST(AttachLayout, IsNotGuessedWhereAValueStandsTwice) {
    made_up = release;
    made_up.doubled_extents = true;
    made_up.tensor_bytes += 32;
    Layout at = {};
    char why[192] = "";
    EXPECT_FALSE(discover_layout(exports(), at, why, sizeof why));
    EXPECT_THAT(why, HasSubstr("a tensor's extents"));
}

TEST(AttachLayout, IsNotBelievedWhereExportsSayOtherwise) {
    made_up = release;
    made_up.lies_about_nodes = true;
    Layout at = {};
    char why[192] = "";
    EXPECT_FALSE(discover_layout(exports(), at, why, sizeof why));
    EXPECT_THAT(why, HasSubstr("a graph of five nodes"));
}

TEST(AttachLayout, IsComparedWithAGraphOfTheProgram) {
    expect_found(release);
    GgmlCopy ggml = {};
    ggml.call = exports();
    ggml.at = release.at;
    std::vector<char> memory(1 << 16);
    Context* const context = ggml.call.ggml_init({memory.size(), memory.data(), true});
    Tensor* const a = ggml.call.ggml_new_tensor_1d(context, 0, 4);
    Tensor* const b = ggml.call.ggml_new_tensor_1d(context, 0, 4);
    Graph* const graph = ggml.call.ggml_new_graph_custom(context, 8, false);
    ggml.call.ggml_build_forward_expand(graph, ggml.call.ggml_add(context, a, b));
    EXPECT_EQ(contradiction(ggml, graph), nullptr);
    set(graph, release.at.n_leafs, int32_t{9});
    EXPECT_STREQ(contradiction(ggml, graph), "a graph's counts");
    set(graph, release.at.n_leafs, int32_t{2});
    set(a, release.at.op, int32_t{5});
    EXPECT_STREQ(contradiction(ggml, graph), "a graph's leafs");
    std::swap(ggml.at.nodes, ggml.at.leafs);
    EXPECT_STREQ(contradiction(ggml, graph), "a graph's nodes");
}

} // namespace
} // namespace schedscope::attach
