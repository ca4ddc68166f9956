#include "traces/history/words/part_by_name.h"

#include "traces/history/words/layer_in_name.h"

namespace schedscope {

namespace {

/// Does the name say no more than this word and a block: "norm-3"?
bool is_named(const TensorInfo& t, std::string_view word) noexcept {
    const std::optional<LayerInName> block = layer_in_name(t.name);
    return block && block->end == t.name.size() && t.name.substr(0, block->first) == word;
}

} // namespace

Role pinned_role_by_name(const TensorInfo& node) noexcept {
    return (node.op == Op::RMS_NORM || node.op == Op::NORM) && is_named(node, "norm") ? Role::norm
           : node.op == Op::CONT && is_named(node, "kqv_out")                         ? Role::attended
                                                                                      : Role::none;
}

Role role_of(const TensorInfo& t) noexcept {
    return t.role == Role::none && t.name.starts_with("cache_") && layer_of_name(t.name) ? Role::cache : t.role;
}

} // namespace schedscope
