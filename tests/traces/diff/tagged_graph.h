#pragma once

#include "runtime/planner/graph_view.h"

#include <string>
#include <vector>

namespace schedscope::test {

/// A small transformer in which each tensor has a tag that says what it is, so that a test knows which tensors of two graphs are
/// the same, whatever they are called.
struct Transformer {
    int layers = 4, tokens = 40, heads = 4;
    bool flash_attention = true;
    Type cache_type = Type::F16;
    bool renamed = false;  ///< names that say nothing of what the tensors are
    int extra_after = -1;  ///< a SCALE behind this layer
    int without = -1;      ///< this layer's feed-forward is left out
    bool up_first = false; ///< the feed-forward's up product stands before its gate product
};
struct TaggedGraph {
    OwnedGraph graph;
    std::vector<std::string> tags; ///< by tensor
};
TaggedGraph tagged(const Transformer& how);

} // namespace schedscope::test
