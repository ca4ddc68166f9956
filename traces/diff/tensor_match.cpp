#include "traces/diff/tensor_match.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace schedscope {

namespace {

/// FNV-1a, a number at a time.
class Hash {
public:
    void add(uint64_t v) noexcept {
        value_ = (value_ ^ v) * 0x100000001B3ULL;
        value_ ^= value_ >> 29U;
    }
    void add(std::string_view text) noexcept {
        for (const char c : text) {
            add(static_cast<uint64_t>(static_cast<uint8_t>(c)));
        }
        add(text.size());
    }
    uint64_t value() const noexcept { return value_; }

private:
    uint64_t value_ = 0xCBF29CE484222325ULL;
};

/// "node_12", also as part of "node_12 (view)": the number is a place in the graph.
bool is_numbered(std::string_view name) noexcept {
    if (!name.starts_with("node_") && !name.starts_with("leaf_")) {
        return name.empty();
    }
    return name.size() > 5 && std::isdigit(static_cast<unsigned char>(name[5])) != 0;
}

std::vector<uint64_t> likenesses(const OwnedGraph& graph) {
    std::vector<uint64_t> hashes(graph.tensors.size(), 0);
    const auto make = [&](TensorId id) {
        const TensorInfo& t = graph.tensors[static_cast<size_t>(id)];
        Hash hash;
        hash.add(static_cast<uint64_t>(t.op));
        if (!is_numbered(t.name)) {
            hash.add(t.name);
        } else {
            hash.add(static_cast<uint64_t>(t.type));
            hash.add(t.view_offset);
            for (const int64_t n : t.ne) {
                hash.add(static_cast<uint64_t>(n));
            }
            for (const TensorId source : t.src) {
                hash.add(source == no_tensor ? 1 : hashes[static_cast<size_t>(source)]);
            }
            hash.add(t.view_source == no_tensor ? 1 : hashes[static_cast<size_t>(t.view_source)]);
        }
        hashes[static_cast<size_t>(id)] = hash.value();
    };
    for (size_t id = 0; id < graph.tensors.size(); ++id) {
        if (graph.tensors[id].op == Op::NONE) {
            make(static_cast<TensorId>(id));
        }
    }
    for (const TensorId id : graph.nodes) { // sources stand before their users
        make(id);
    }
    return hashes;
}

bool alike(const OwnedGraph& a, const OwnedGraph& b) noexcept {
    return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                      [](const TensorInfo& x, const TensorInfo& y) { return x.op == y.op && x.name == y.name; });
}

} // namespace

std::vector<TensorId> match_tensors(const OwnedGraph& of, const OwnedGraph& in) {
    std::vector<TensorId> match(of.tensors.size(), no_tensor);
    if (alike(of, in)) {
        for (size_t id = 0; id < match.size(); ++id) {
            match[id] = static_cast<TensorId>(id);
        }
        return match;
    }
    std::unordered_map<uint64_t, std::vector<TensorId>> places; // by likeness, the next one last
    const std::vector<uint64_t> wanted = likenesses(of), there = likenesses(in);
    for (size_t id = there.size(); id > 0; --id) {
        places[there[id - 1]].push_back(static_cast<TensorId>(id - 1));
    }
    for (size_t id = 0; id < wanted.size(); ++id) {
        const auto found = places.find(wanted[id]);
        if (found != places.end() && !found->second.empty()) {
            match[id] = found->second.back();
            found->second.pop_back();
        }
    }
    return match;
}

} // namespace schedscope
