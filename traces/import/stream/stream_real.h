#pragma once

#include "traces/import/stream/stream_layout.h"
#include "traces/replay/foreign/real_plan.h"

#include <optional>
#include <string_view>
#include <variant>

namespace schedscope::import {

/// One thing that a scheduler decided, as a stream says it. A trace has no such records: they are what plans are compared with.
struct RealSplit {
    int32_t index = 0;
    RealPlan::Part split;
};
struct RealInput {
    int32_t split = 0;
    TensorId tensor = no_tensor;
};
struct RealOrder {
    int32_t place = 0;
    TensorId node = no_tensor;
};
struct RealBuffer { ///< how large a chunk is
    BufferTypeId buffer_type = no_buffer_type;
    int32_t chunk = 0;
    int64_t size = 0;
};
struct RealMemory { ///< of a graph that is only measured: memory was planned for it, whether or not buffers were made
    bool planned = false;
};
using RealDecision = std::variant<RealPlan::Assigned, RealSplit, RealInput, RealPlan::Source, RealOrder, RealPlan::Place,
                                  RealPlan::KeptAlive, RealPlan::Printed, RealBuffer, RealMemory>;

/// Kinds of records that begin so are such.
bool is_real_kind(std::string_view kind) noexcept;
/// Nothing: the kind is none that is known here. Throws Damage.
std::optional<RealDecision> read_real(const StreamFields& f, UnknownWords& unknown);

/// What they may name.
struct RealBounds {
    int64_t n_tensors = 0, n_nodes = 0, n_backends = 0, n_buffer_types = 0;
};
/// Names copies that have a number instead: behind the graph's own, in the order in which nodes read them first. Throws Damage.
void name_copies(RealPlan& plan, int64_t n_tensors);
/// Adds it to what is known of a plan. Throws Damage where it names what is not there.
void add_real(const RealDecision& decision, const RealBounds& bounds, RealPlan& plan);

} // namespace schedscope::import
