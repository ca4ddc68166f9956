#pragma once

#include "runtime/numbers.h"
#include "runtime/ops/op.h"

#include <array>
#include <initializer_list>
#include <span>

namespace schedscope {

/// A backend's entries by operator, collected from its families. An Entry has the member `op`; entries must outlive the table.
template <typename Entry> class OperatorTable {
public:
    using Family = std::span<const Entry> (*)() noexcept;

    OperatorTable(std::initializer_list<Family> families) noexcept {
        for (const Family family : families) {
            for (const Entry& entry : family()) {
                by_op_[ordinal(entry.op)] = &entry;
            }
        }
    }

    /// Null where the backend has no entry.
    const Entry* find(Op op) const noexcept { return by_op_[ordinal(op)]; }

private:
    std::array<const Entry*, ordinal(Op::count)> by_op_{};
};

} // namespace schedscope
