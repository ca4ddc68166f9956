#pragma once

#include "traces/history/history.h"

namespace schedscope {

/// What was going on just before a record: enough to tell whether the record begins something.
struct UnitContext {
    TensorId node = no_tensor; ///< the tensor that was last decided on or run, in the present pass
    int32_t split = -1;        ///< the split that was last planned or run, in the present pass
};

/// Does a record, met in this context, begin a unit? A node begins with the first of the records in a row that are about one tensor; a split when pass
/// 5 opens it and again with the first of its transfers, waits and kernels; a sweep is each of the passes as records name
/// them; a pass is the same with the four sweeps as one.
bool begins(History::Unit unit, const UnitContext& before, const Record& record) noexcept;

/// The context after the record.
void advance(UnitContext& context, const Record& record) noexcept;

/// The tensor and the split that a record is about, for `begins`; none and −1 where it says nothing.
TensorId unit_node(const Record& record) noexcept;
int32_t unit_split(const Record& record) noexcept;
/// A pass or an evaluation begins: what was before it no longer counts.
bool clears_context(const Record& record) noexcept;

} // namespace schedscope
