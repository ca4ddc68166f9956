#pragma once

#include "traces/store/record_source.h"

#include <ostream>

namespace schedscope {

/// One JSON object per record and line: step, time_ns, evaluation, kind, then the record's fields by name. Backends, buffer types
/// and enumerations by their names, texts as texts, tensors as ids with their names beside them ("tensor", "tensor_name"); none
/// is null.
void export_jsonl(const RecordSource& source, std::ostream& out);

} // namespace schedscope
