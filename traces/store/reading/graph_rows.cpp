#include "traces/store/reading/graph_rows.h"

#include "runtime/numbers.h"
#include "runtime/system/visible_text.h"
#include "traces/format/schema.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>

namespace schedscope {

void check_extent(const TensorInfo& t) {
    __int128 elements = 1, bytes = static_cast<__int128>(traits(t.type.value_or(Type::F32)).bytes);
    const Shape ne = t.ne.value_or(Shape{});
    const Strides nb = t.nb.value_or(Strides{});
    for (size_t d = 0; d < max_dims; ++d) {
        elements *= ne[d];
        bytes += static_cast<__int128>(ne[d]) * static_cast<__int128>(nb[d]);
        if (elements > most_tensor_bytes || bytes > most_tensor_bytes) {
            throw Damage("the extent of a tensor is beyond all memory");
        }
    }
    if (t.view_offset > most_tensor_bytes) {
        throw Damage("the offset of a view is beyond all memory");
    }
}

void check_foreign(const ForeignWords& words) {
    for (const auto& [what, word] : {std::pair{"operator", &words.op}, std::pair{"type", &words.type}}) {
        if (word->size() > longest_foreign_word || visible(*word) != *word) {
            throw Damage(std::string("a tensor's ") + what + " is '" + visible_name(*word) + "'");
        }
    }
}

namespace {

/// A text that few values have, each for many rows: what it stands for is looked up when it is another one than in the row
/// before.
template <typename T, typename F>
T named(const sqlite::Statement& row, int column, const char* what, std::pair<std::string, T>& last, F&& look_up) {
    const std::string_view text = row.bytes(column);
    if (text.empty() || text != last.first) {
        const std::string name = take_text(row, column, what);
        const auto known = look_up(name);
        if constexpr (std::is_same_v<std::remove_const_t<decltype(known)>, T>) {
            last = {name, known};
        } else {
            last = {name, known ? *known : throw Damage(std::string(what) + " is '" + visible_name(name) + "'")};
        }
    }
    return last.second;
}

/// NULL: it is not known.
template <typename F> auto if_known(const sqlite::Statement& row, int column, F&& read) -> std::optional<decltype(read())> {
    return row.is_null(column) ? std::nullopt : std::optional(read());
}

/// A word of ggml's, or one of the program's own: `own` gets that, and `stand_in` stands for it. NULL: it is not known.
template <typename T, typename F>
std::optional<T> word_or_own(const sqlite::Statement& row, int column, const char* what,
                             std::pair<std::string, std::optional<T>>& last, F&& look_up, T stand_in, std::string& own) {
    if (row.is_null(column)) {
        return std::nullopt;
    }
    const std::optional<T> known = named(row, column, what, last, look_up);
    if (last.first.empty()) {
        throw Damage(std::string(what) + " is ''");
    }
    return known_or_foreign(known, last.first, stand_in, own);
}

template <typename T> T four(const sqlite::Statement& row, int column, const char* what) {
    T numbers{};
    for (int d = 0; d < max_dims; ++d) {
        numbers[d] = take(row, column + d, 0, most_tensor_bytes, what);
    }
    return numbers;
}

Params params_of(std::string_view bytes) {
    Params params{}; // no bytes: all are 0
    if (!bytes.empty() && bytes.size() != sizeof params) {
        throw Damage("the parameters of a tensor have " + std::to_string(bytes.size()) + " bytes");
    }
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(params.data()));
    return params;
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
                                     "ne3, nb0, nb1, nb2, nb3, params, role, layer FROM tensor WHERE graph = ? AND id "
                                     "BETWEEN ? AND ? ORDER BY id");
    rows.bind(0, int64_t{id_});
    rows.bind(1, least);
    rows.bind(2, most);
    std::pair<std::string, std::optional<Op>> op;
    std::pair<std::string, std::optional<Type>> type;
    std::pair<std::string, BufferUsage> usage;
    std::pair<std::string, Role> role;
    int64_t next = first;
    size_t name_bytes = 0;
    for (; rows.step(); ++next) {
        take(rows, 0, next, std::min(next, end - 1), "the id of a tensor");
        TensorInfo& t = tensors[next];
        std::string& name = names[next] = take_text(rows, 1, "the name of a tensor");
        kept_.check(name_bytes += name.size());
        // What no optional says as unknown is nothing here: the trace says that it lacks its topic.
        ForeignWords foreign;
        t.op = word_or_own(rows, 2, "a tensor's operator", op, op_from_name, foreign_op, foreign.op);
        t.type = word_or_own(rows, 3, "a tensor's type", type, type_from_name, foreign_type, foreign.type);
        if (foreign != ForeignWords{}) {
            check_foreign(foreign);
            lists.foreign.emplace_back(int_of(next), foreign);
        }
        t.flags = take_known<uint8_t>(rows, 4, 0, 255, "the flags of a tensor").value_or(0);
        t.usage = if_known(rows, 5, [&] {
                      return named(rows, 5, "the usage of a tensor's buffer", usage, schema::usage_from_name);
                  }).value_or(BufferUsage::any);
        t.buffer_type =
            take_known<BufferTypeId>(rows, 6, -1, n_types_ - 1, "the buffer type of a tensor").value_or(no_buffer_type);
        t.user_backend =
            take_known<BackendId>(rows, 7, -1, n_backends_ - 1, "the pinned backend of a tensor").value_or(no_backend);
        for (const auto& [column, n, list, what] : {std::tuple{8, size_.n_leafs, &lists.leafs, "a place among the leafs"},
                                                    std::tuple{9, size_.n_nodes, &lists.nodes, "a place among the nodes"}}) {
            if (const std::optional<int64_t> place = take_if_known(rows, column, 0, n - 1, what)) {
                list->emplace_back(*place, int_of(next));
            }
        }
        t.view_source = take_known<TensorId>(rows, 10, -1, size_.n_tensors - 1, "the source of a view").value_or(no_tensor);
        t.view_offset = take_known<size_t>(rows, 11, 0, most_tensor_bytes, "the offset of a view").value_or(0);
        t.ne = if_known(rows, 12, [&] { return four<Shape>(rows, 12, "an extent of a tensor"); });
        t.nb = if_known(rows, 16, [&] { return four<Strides>(rows, 16, "a stride of a tensor"); });
        t.params = if_known(rows, 20, [&] { return params_of(rows.bytes(20)); });
        t.role = if_known(rows, 21, [&] {
                     return named(rows, 21, "the role of a tensor", role, role_from_name);
                 }).value_or(Role::none);
        t.layer = take_known<int32_t>(rows, 22, -1, most_layers, "the layer of a tensor").value_or(-1);
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
            if (place >= n) {
                throw Damage("a place among the " + what + "s is " + std::to_string(place) + " of " + std::to_string(n));
            }
            if (list[place] != no_tensor) {
                throw Damage("a place among the " + what + "s is taken twice");
            }
            list[place] = id;
        }
    }
    return list;
}

} // namespace schedscope
