#pragma once

#include "viz/tables/plan_table.h"

#include <unordered_map>
#include <variant>
#include <vector>

namespace schedscope::tables {

using GroupRow = std::variant<record::Fusion, record::NotFused, record::Reorder>;

/// What each backend's optimise step did to its splits: nodes run as one kernel, pairs it could not fuse and why, nodes it moved.
class GroupsTable final : public PlanTable<GroupsTable, GroupRow> {
public:
    explicit GroupsTable(History& history);
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    std::string_view kind(int row) const override;
    TensorId first_tensor(int row) const override {
        const std::vector<TensorId> all = nodes(rows_[row]);
        return all.empty() ? no_tensor : all.front();
    }

    std::vector<TensorId> nodes(const GroupRow& row) const;
    BackendId backend_of(const GroupRow& row) const;
    Cell time_of(const GroupRow& row) const; ///< of its kernel
    std::string summary() const;             ///< what is unknown beside its rows; empty: nothing

private:
    std::unordered_map<TensorId, Cell> times_; ///< of the kernel that begins with a node
};

/// A split's nodes as they run: their places before the backend reordered them. Splits in which nothing was moved are not listed.
struct SplitOrder {
    int32_t split = 0;
    std::vector<int32_t> order;
};
class OrdersTable final : public TableOf<OrdersTable, SplitOrder> {
public:
    OrdersTable() : TableOf("reorders") {}
    void update(const PlanState& state);
    static std::span<const Entry> entries();
};

} // namespace schedscope::tables
