#include "tests/corpus/decode_graph.h"

#include <algorithm>

namespace schedscope::corpus {

namespace {

constexpr int64_t most_bytes = int64_t{1} << 44; ///< of one tensor: sums of offsets stay far from overflow

std::vector<TensorId> ids(const Json& value, const std::string& what, size_t n_tensors) {
    std::vector<TensorId> out;
    for (const Json& id : list(value, what)) {
        out.push_back(index(id, what, n_tensors));
    }
    return out;
}

uint8_t decode_flags(const Json& value) {
    unsigned flags = 0;
    for (const Json& name : list(value, "flags")) {
        const std::string& flag = text(name, "flags");
        if (flag == "input") {
            flags |= flag_input;
        } else if (flag == "output") {
            flags |= flag_output;
        } else if (flag == "param") {
            flags |= flag_param;
        } else if (flag == "loss") {
            flags |= flag_loss;
        } else {
            broken("flags: '" + flag + "' is unknown");
        }
    }
    return static_cast<uint8_t>(flags);
}

void decode_buffer(const Json& value, size_t n_buffer_types, TensorInfo& out) {
    out.buffer_type = static_cast<BufferTypeId>(index(field(value, "buft"), "buffer buft", n_buffer_types));
    const std::string& usage = text(field(value, "usage"), "buffer usage");
    if (usage == "weights") {
        out.usage = BufferUsage::weights;
    } else if (usage == "compute") {
        out.usage = BufferUsage::compute;
    } else if (usage != "any") {
        broken("buffer usage: '" + usage + "' is unknown");
    }
}

void decode_layout(const Json& t, TensorInfo& out) {
    const Json& ne = list(field(t, "ne"), "ne");
    if (ne.size() > max_dims) {
        broken("ne: more than 4 dimensions");
    }
    double bytes = static_cast<double>(traits(*out.type).bytes);
    for (size_t i = 0; i < ne.size(); ++i) {
        (*out.ne)[i] = integer(ne[i], "ne", 0, most_bytes);
        bytes *= static_cast<double>(std::max<int64_t>((*out.ne)[i], 1));
    }
    if (bytes > static_cast<double>(most_bytes)) {
        broken("ne: the tensor is larger than 16 TiB");
    }
    out.nb = contiguous_strides(*out.type, *out.ne);
    if (const Json* nb = optional_field(t, "nb")) {
        double extent = 0;
        for (size_t i = 0; i < max_dims; ++i) {
            (*out.nb)[i] = static_cast<size_t>(integer(list_of(*nb, "nb", max_dims)[i], "nb", 0, most_bytes));
            extent += static_cast<double>((*out.nb)[i]) * static_cast<double>((*out.ne)[i]);
        }
        if (extent > static_cast<double>(most_bytes)) {
            broken("nb: the tensor is larger than 16 TiB");
        }
    }
}

void decode_sources(const Json& value, size_t n_tensors, TensorInfo& out) {
    if (list(value, "src").size() > max_sources) {
        broken("src: more than 10 sources");
    }
    for (size_t i = 0; i < value.size(); ++i) {
        if (!value[i].is_null()) {
            out.src[i] = index(value[i], "src", n_tensors);
        }
    }
}

TensorInfo decode_tensor(const Json& t, size_t id, size_t n_tensors, size_t n_buffer_types, size_t n_backends,
                         OwnedGraph& graph) {
    if (integer(field(t, "id"), "id", 0, INT32_MAX) != static_cast<int64_t>(id)) {
        broken("id: expected " + std::to_string(id) + ", its position");
    }
    TensorInfo out;
    const Json* name = optional_field(t, "name");
    out.name = graph.keep(name != nullptr ? text(*name, "name") : std::string("t").append(std::to_string(id)));
    out.op = decode_op(field(t, "op"));
    out.type = decode_type(field(t, "type"));
    decode_layout(t, out);
    if (const Json* flags = optional_field(t, "flags")) {
        out.flags = decode_flags(*flags);
    }
    if (const Json* sources = optional_field(t, "src")) {
        decode_sources(*sources, n_tensors, out);
    }
    if (const Json* view = optional_field(t, "view_src")) {
        out.view_source = index(*view, "view_src", n_tensors);
        const Json* offset = optional_field(t, "view_offs");
        out.view_offset = offset != nullptr ? static_cast<size_t>(integer(*offset, "view_offs", 0, most_bytes)) : 0;
    }
    if (const Json* buffer = optional_field(t, "buffer")) {
        decode_buffer(*buffer, n_buffer_types, out);
    }
    if (const Json* pinned = optional_field(t, "user_backend")) {
        out.user_backend = static_cast<BackendId>(index(*pinned, "user_backend", n_backends));
    }
    return out;
}

OpSet op_set(const Json& value, const std::string& what) {
    OpSet ops;
    for (const Json& op : list(value, what)) {
        ops.set(static_cast<size_t>(decode_op(op)));
    }
    return ops;
}

MockBackend decode_backend(const Json& value, size_t n_buffer_types) {
    MockBackend backend;
    backend.name = text(field(value, "name"), "backend name");
    backend.buffer_type = static_cast<BufferTypeId>(index(field(value, "buft"), "backend buft", n_buffer_types));
    const Json& ops = field(value, "ops");
    if (ops.is_string() && ops.get_ref<const std::string&>() == "*") {
        backend.ops.set();
    } else {
        backend.ops = op_set(ops, "backend ops");
    }
    if (const Json* not_ops = optional_field(value, "not_ops")) {
        backend.ops &= ~op_set(*not_ops, "backend not_ops");
    }
    if (const Json* refuse = optional_field(value, "refuse")) {
        for (const Json& pair : list(*refuse, "backend refuse")) {
            backend.refuses.emplace_back(decode_op(field(pair, "op")), decode_type(field(pair, "type")));
        }
    }
    backend.uses.assign(n_buffer_types, 0);
    for (const Json& type : list(field(value, "supports_buft"), "supports_buft")) {
        backend.uses[static_cast<size_t>(index(type, "supports_buft", n_buffer_types))] = 1;
    }
    if (const Json* offload = optional_field(value, "offload")) {
        backend.offload_ops = op_set(field(*offload, "ops"), "offload ops");
        backend.offload_min_batch = integer(field(*offload, "min_batch"), "offload min_batch", 0, INT64_MAX);
    }
    return backend;
}

} // namespace

Op decode_op(const Json& value) {
    const std::optional<Op> op = op_from_name(text(value, "op"));
    if (!op) {
        broken("op: '" + value.get<std::string>() + "' is unknown");
    }
    return *op;
}

Type decode_type(const Json& value) {
    const std::optional<Type> type = type_from_name(text(value, "type"));
    if (!type) {
        broken("type: '" + value.get<std::string>() + "' is unknown");
    }
    return *type;
}

OwnedGraph decode_graph(const Json& source, size_t n_buffer_types, size_t n_backends) {
    OwnedGraph graph;
    const Json& tensors = list(field(source, "tensors"), "tensors");
    for (size_t id = 0; id < tensors.size(); ++id) {
        try {
            graph.tensors.push_back(decode_tensor(tensors[id], id, tensors.size(), n_buffer_types, n_backends, graph));
        } catch (const Error& error) {
            broken("tensor " + std::to_string(id) + ": " + error.what());
        }
    }
    graph.leafs = ids(field(source, "leafs"), "leafs", tensors.size());
    graph.nodes = ids(field(source, "nodes"), "nodes", tensors.size());
    return graph;
}

void decode_system(const Json& line, Case& out) {
    const Json& types = list(field(line, "bufts"), "bufts");
    for (size_t id = 0; id < types.size(); ++id) {
        BufferTypeInfo type;
        type.name = "buffer type " + std::to_string(index(field(types[id], "id"), "bufts id", types.size()));
        type.is_host = boolean(field(types[id], "is_host"), "is_host");
        type.alignment = integer(field(types[id], "align"), "align", 1, most_bytes);
        if (const Json* most = optional_field(types[id], "max_size")) {
            type.max_size = integer(*most, "max_size", 0, INT64_MAX / 2);
        }
        out.session.buffer_types.push_back(std::move(type));
    }
    const Json& backends = list(field(line, "backends"), "backends");
    if (backends.empty() || backends.size() > 16) {
        broken("backends: expected 1 to 16");
    }
    for (const Json& value : backends) {
        MockBackend backend = decode_backend(value, types.size());
        BackendInfo info;
        info.name = backend.name;
        info.default_buffer_type = backend.buffer_type;
        info.supports_buffer_type = backend.uses;
        out.session.backends.push_back(std::move(info));
        out.backends.push_back(std::move(backend));
    }
}

} // namespace schedscope::corpus
