#pragma once

#include <graphviz/cgraph.h>

#include <string>

namespace schedscope {

/// Reads Graphviz text. libcgraph's own ids are addresses of names, and Graphviz goes through areas and nodes in order of id: the
/// picture would depend on the heap. Here the n-th name gets the n-th id. Null: it is no graph; libcgraph said where.
Agraph_t* read_graph(const std::string& text);

} // namespace schedscope
