#pragma once

#include "traces/store/record_source.h"

#include <memory>
#include <ostream>

namespace schedscope {

/// The trace as a timeline for Perfetto (ui.perfetto.dev). The run is the process; its threads are
///     scheduler   evaluations; within them the plan, its passes and what the host waited for
///     CPU, …      one per backend: splits, and within them kernels
///     copies      transfers, with arrows from the split that made a tensor to the split that it is copied for
///     memory      an instant for each reservation and reallocation
///     tokens      an instant each
///     verification  an instant for each node that was compared on two devices, or was not; only where a trace has some
/// and counters tell the compute buffers of each buffer type, what of them is in use, and the bytes copied from backend to
/// backend. What overlaps without being a part gets a thread of its own behind ("Vulkan0 (2)"). Memory: one evaluation's records.
void export_perfetto(std::shared_ptr<const RecordSource> source, std::ostream& out);

} // namespace schedscope
