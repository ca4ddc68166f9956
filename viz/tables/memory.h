#pragma once

#include "traces/history/accounts/memory.h"
#include "viz/tables/plan_table.h"

namespace schedscope::tables {

/// The tensors that are needed at the node where most is.
class HoldersTable final : public TableOf<HoldersTable, accounts::MemoryRow::Holder> {
public:
    explicit HoldersTable(std::vector<accounts::MemoryRow::Holder> rows);
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row].id; }
};

/// The compute buffers: how large, how far used, how much is needed at once and by whom.
class BuffersTable final : public PlanTable<BuffersTable, accounts::MemoryRow> {
public:
    explicit BuffersTable(History& history);
    void update(const PlanState& state, std::vector<accounts::MemoryRow> buffers);
    static std::span<const Entry> entries();
};

/// What the plan's graph reads that lies in memory of its own, beside the compute buffers.
class ResidentTable final : public PlanTable<ResidentTable, accounts::ResidentRow> {
public:
    explicit ResidentTable(History& history);
    void update(const PlanState& state, std::vector<accounts::ResidentRow> resident);
    static std::span<const Entry> entries();
};

/// Graphs that memory was reserved for before this plan.
class ReservesTable final : public TableOf<ReservesTable, accounts::ReserveRow> {
public:
    explicit ReservesTable(std::vector<accounts::ReserveRow> rows);
    static std::span<const Entry> entries();
};

/// Where each tensor lies and how long.
class PlacesTable final : public PlanTable<PlacesTable, record::Placement> {
public:
    explicit PlacesTable(History& history);
    /// By buffer, offset and first use.
    void update(const PlanState& state);
    static std::span<const Entry> entries();
    TensorId tensor(int row) const override { return rows_[row].tensor; }

    BackendId backend_of(TensorId id) const { return is_index(id, state().tensors) ? state().tensors[id].backend : no_backend; }
    std::string life(const record::Placement& place) const; ///< "··██··": of all uses, the first to the last

private:
    int last_use_ = 1;
};

} // namespace schedscope::tables
