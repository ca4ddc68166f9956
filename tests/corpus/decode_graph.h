#pragma once

#include "tests/corpus/corpus_case.h"
#include "tests/corpus/json_fields.h"

namespace schedscope::corpus {

/// `source` has tensors, leafs and nodes. Ids, buffer types and backends are checked against their counts.
OwnedGraph decode_graph(const Json& source, size_t n_buffer_types, size_t n_backends);

/// Buffer types and backends of a line.
void decode_system(const Json& line, Case& out);

Op decode_op(const Json& value);
Type decode_type(const Json& value);

} // namespace schedscope::corpus
