#pragma once

#include "runtime/planner/recorder.h"
#include "traces/store/record_source.h"

#include <functional>

namespace schedscope {

/// Gives a new recorder all that a source holds before step `end`: the same records at the same steps, with the texts, graphs,
/// answers and lists of kernels that they name. The source may grow meanwhile. `go_on` is asked now and then; when it says no,
/// the rest is left out, and false returned.
bool copy_records(const RecordSource& source, Step end, Recorder& to, const std::function<bool()>& go_on);

} // namespace schedscope
