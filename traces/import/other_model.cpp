#include "traces/import/other_model.h"

#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/words/layer_in_name.h"

#include <algorithm>
#include <optional>
#include <set>

namespace schedscope::import {

namespace {

/// 3 of "blk.3.attn_norm.weight"; −1: it is of no block.
int64_t block_of(std::string_view name) noexcept {
    const std::optional<LayerInName> found = name.starts_with("blk.") ? layer_in_name(name) : std::nullopt;
    return found && found->first == 0 ? found->layer : -1;
}

} // namespace

OtherModel::OtherModel(const ModelHeader& model, size_t name_width) : name_width_(name_width) {
    for (const ModelHeader::Tensor& t : model.tensors) {
        weights_.emplace(t.name, &t);
        n_blocks_ = std::max(n_blocks_, block_of(t.name) + 1);
    }
    computes_all_blocks_ = std::none_of(model.values.begin(), model.values.end(), [](const ModelHeader::Value& value) {
        return value.key.ends_with(".nextn_predict_layers");
    });
}

std::string OtherModel::why(const LoggedGraph& logged) const {
    if (weights_.empty()) {
        return "";
    }
    const std::set<TensorId> nodes(logged.graph.nodes.begin(), logged.graph.nodes.end());
    int64_t n_logged_blocks = 0;
    for (TensorId id = 0; id < n_of(logged.graph.tensors); ++id) {
        const std::string_view name = logged.graph.tensors[id].name;
        if (nodes.contains(id)) {
            continue;
        }
        const int64_t block = block_of(name);
        n_logged_blocks = std::max(n_logged_blocks, block + 1);
        if (block >= n_blocks_) {
            return joined({"the log has ", visible_name(name), ", the model has ", words::counted(n_blocks_, "block"),
                           ", numbered from 0"});
        }
        if (!name.ends_with(".weight") || !is_in_full(name)) {
            continue;
        }
        const auto found = weights_.find(name);
        if (found == weights_.end()) {
            return joined({"the model has no ", visible_name(name)});
        }
        const ModelHeader::Tensor& weight = *found->second;
        if (!accounts::is_logged_as(weight.bytes, logged.bytes[id])) {
            return joined({weight.name, " has ", words::bytes(*logged.bytes[id]), " in the log, ", words::bytes(weight.bytes),
                           " (", type_name(weight.type), ") in the model"});
        }
    }
    const auto is_output = [&](TensorId id) { return logged.graph.tensors[id].name == "result_output"; };
    const bool is_whole = !logged.ends_early && std::any_of(nodes.begin(), nodes.end(), is_output);
    if (is_whole && computes_all_blocks_ && n_logged_blocks > 0 && n_logged_blocks < n_blocks_) {
        return joined(
            {"the log's graphs have ", words::counted(n_logged_blocks, "block"), ", the model has ", std::to_string(n_blocks_)});
    }
    return "";
}

} // namespace schedscope::import
