#pragma once

#include <string>
#include <vector>

namespace schedscope {

/// Many tensors' names in few words: "blk.0…5: ffn_gate.weight, ffn_up.weight; output_norm.weight". Names of a layer
/// ("blk.3.attn_q.weight", "Qcur-3", "cache_k_l3 (view)") stand without its number behind the layers that have them; those of no
/// layer, and a layer's only one, stay as they are. A name that is there several times is said once; of a long list the first are
/// said, and how many more there are.
std::string fold_names(const std::vector<std::string>& names);

/// A name, or a text that ends in one, with N for the number of its layer where that is the subject's layer, too: "kqv_out-N",
/// "blk.N.attn_q.weight".
std::string in_any_layer(const std::string& text, const std::string& subject);

/// "0…5", "0…2,5". Numbers in rising order.
std::string ranges(const std::vector<int>& numbers);

} // namespace schedscope
