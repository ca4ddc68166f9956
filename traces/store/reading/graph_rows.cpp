#include "traces/store/reading/graph_rows.h"

#include "runtime/numbers.h"
#include "runtime/system/visible_text.h"
#include "traces/format/schema.h"
#include "traces/store/reading/trace_rows.h"

#include <cstring>

namespace schedscope {

namespace {

constexpr int64_t most_bytes = int64_t{1} << 46;
constexpr int64_t most_layers = int64_t{1} << 20;

BufferUsage usage_from(const std::string& name) {
    for (const BufferUsage usage : {BufferUsage::any, BufferUsage::weights, BufferUsage::compute}) {
        if (name == schema::usage_name(usage)) {
            return usage;
        }
    }
    throw Damage("the usage of a tensor's buffer is '" + visible_name(name) + "'");
}

Home home_from(const std::string& name) {
    for (const Home home : {Home::none, Home::layer, Home::layer_norm, Home::shared, Home::encoder, Home::host, Home::user}) {
        if (name == home_name(home)) {
            return home;
        }
    }
    throw Damage("the home of a tensor is '" + visible_name(name) + "'");
}

/// Sizes that no computation with strides overflows.
void check_extent(const TensorInfo& t) {
    __int128 elements = 1, bytes = static_cast<__int128>(traits(t.type).bytes);
    for (size_t d = 0; d < max_dims; ++d) {
        elements *= t.ne[d];
        bytes += static_cast<__int128>(t.ne[d]) * static_cast<__int128>(t.nb[d]);
        if (elements > most_bytes || bytes > most_bytes) {
            throw Damage("the extent of a tensor is beyond all memory");
        }
    }
    if (t.view_offset > most_bytes) {
        throw Damage("the offset of a view is beyond all memory");
    }
}

/// A text that few values have, each for many rows: what it stands for is looked up when it is another one than in the row before.
template <typename T, typename F>
T named(const sqlite::Statement& row, int column, const char* what, std::pair<std::string, T>& last, F&& look_up) {
    const std::string_view text = row.bytes(column);
    if (text.empty() || text != last.first) {
        const std::string name = take_text(row, column, what);
        last = {name, look_up(name)};
    }
    return last.second;
}

Op known_op(const std::string& name) {
    const auto op = op_from_name(name);
    return op ? *op : throw Damage("a tensor's operator is '" + visible_name(name) + "'");
}

Type known_type(const std::string& name) {
    const auto type = type_from_name(name);
    return type ? *type : throw Damage("a tensor's type is '" + visible_name(name) + "'");
}

} // namespace

GraphRows::GraphRows(const TraceIndex& index, GraphId id, const KeptBytes& kept)
    : id_(id), kept_(kept), size_(index.graphs[id]), n_types_(index.session.buffer_types.size()),
      n_backends_(index.session.backends.size()) {}

GraphRows::Lists GraphRows::read(sqlite::Database& database, int64_t first, int64_t end, std::span<TensorInfo> tensors,
                                 std::span<std::string> names) const {
    // Ids that no tensor has are met by who reads the beginning, or the end.
    const int64_t least = first == 0 ? std::numeric_limits<int64_t>::min() : first;
    const int64_t most = end == size_.n_tensors ? std::numeric_limits<int64_t>::max() : end - 1;
    Lists lists;
    sqlite::Statement rows(database, "SELECT id, name, op, type, flags, usage, buffer_type, user_backend, leaf, node, "
                                     "view_source, view_offset, ne0, ne1, ne2, "
                                     "ne3, nb0, nb1, nb2, nb3, params, home, layer FROM tensor WHERE graph = ? AND id "
                                     "BETWEEN ? AND ? ORDER BY id");
    rows.bind(0, int64_t{id_});
    rows.bind(1, least);
    rows.bind(2, most);
    std::pair<std::string, Op> op;
    std::pair<std::string, Type> type;
    std::pair<std::string, BufferUsage> usage;
    std::pair<std::string, Home> home;
    int64_t next = first;
    size_t name_bytes = 0;
    for (; rows.step(); ++next) {
        take(rows, 0, next, std::min(next, end - 1), "the id of a tensor");
        TensorInfo& t = tensors[next];
        std::string& name = names[next] = take_text(rows, 1, "the name of a tensor");
        kept_.check(name_bytes += name.size());
        t.op = named(rows, 2, "the operator of a tensor", op, known_op);
        t.type = named(rows, 3, "the type of a tensor", type, known_type);
        t.flags = static_cast<uint8_t>(take(rows, 4, 0, 255, "the flags of a tensor"));
        t.usage = named(rows, 5, "the usage of a tensor's buffer", usage, usage_from);
        t.buffer_type = narrow<BufferTypeId>(take(rows, 6, -1, n_types_ - 1, "the buffer type of a tensor"));
        t.user_backend = narrow<BackendId>(take(rows, 7, -1, n_backends_ - 1, "the pinned backend of a tensor"));
        for (const auto& [column, n, list, what] : {std::tuple{8, size_.n_leafs, &lists.leafs, "a place among the leafs"},
                                                    std::tuple{9, size_.n_nodes, &lists.nodes, "a place among the nodes"}}) {
            if (!rows.is_null(column)) {
                list->emplace_back(take(rows, column, 0, n - 1, what), int_of(next));
            }
        }
        t.view_source = int_of(take(rows, 10, -1, size_.n_tensors - 1, "the source of a view"));
        t.view_offset = take(rows, 11, 0, most_bytes, "the offset of a view");
        for (int d = 0; d < max_dims; ++d) {
            t.ne[d] = take(rows, 12 + d, 0, most_bytes, "an extent of a tensor");
            t.nb[d] = take(rows, 16 + d, 0, most_bytes, "a stride of a tensor");
        }
        if (!rows.is_null(20)) {
            const std::string_view params = rows.bytes(20);
            if (params.size() != sizeof t.params) {
                throw Damage("the parameters of a tensor have " + std::to_string(params.size()) + " bytes");
            }
            std::memcpy(t.params.data(), params.data(), sizeof t.params);
        }
        t.home = named(rows, 21, "the home of a tensor", home, home_from);
        t.layer = int_of(take(rows, 22, -1, most_layers, "the layer of a tensor"));
        check_extent(t);
    }
    if (next != end) {
        throw Damage("a tensor is missing");
    }

    sqlite::Statement edges(database, "SELECT tensor, slot, source FROM edge WHERE graph = ? AND tensor BETWEEN ? AND ?");
    edges.bind(0, int64_t{id_});
    edges.bind(1, least);
    edges.bind(2, most);
    while (edges.step()) {
        const int64_t tensor = take(edges, 0, first, end - 1, "the tensor of an edge");
        const int64_t slot = take(edges, 1, 0, max_sources - 1, "the slot of an edge");
        tensors[tensor].src[slot] = int_of(take(edges, 2, 0, size_.n_tensors - 1, "the source of an edge"));
    }
    return lists;
}

std::vector<TensorId> in_order(std::initializer_list<std::span<const GraphRows::Place>> parts, int64_t n,
                               const std::string& what) {
    size_t n_named = 0;
    for (const auto& part : parts) {
        n_named += part.size();
    }
    if (static_cast<int64_t>(n_named) < n) {
        throw Damage("a " + what + " is missing");
    }
    std::vector<TensorId> list(n, no_tensor);
    for (const auto& part : parts) {
        for (const auto& [place, id] : part) {
            if (list[place] != no_tensor) {
                throw Damage("a place among the " + what + "s is taken twice");
            }
            list[place] = id;
        }
    }
    return list;
}

} // namespace schedscope
