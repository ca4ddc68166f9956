#pragma once

#include "runtime/planner/model_header.h"
#include "traces/import/logged_graph.h"

#include <map>
#include <string>
#include <string_view>

namespace schedscope::import {

/// Tells a log of another model by what can't be otherwise: a program takes its weights from the model's file, each by its name
/// and with all its bytes, and computes all blocks.
class OtherModel {
public:
    /// `name_width`: names on node lines are cut to so many bytes.
    OtherModel(const ModelHeader& model, size_t name_width);

    /// What in this graph is not of the model: "token_embd.weight has 128 KiB in the log, 34.0 KiB (q8_0) in the model". Empty:
    /// nothing is known to be.
    std::string why(const LoggedGraph& logged) const;

private:
    /// A view's name has a word more, of which nothing but a blank may be left where names are cut.
    bool is_in_full(std::string_view name) const noexcept { return name.size() + 1 < name_width_ || name.size() > name_width_; }

    std::map<std::string_view, const ModelHeader::Tensor*> weights_;
    int64_t n_blocks_ = 0;
    bool computes_all_blocks_ = true; ///< none only predicts tokens that follow
    size_t name_width_;
};

} // namespace schedscope::import
