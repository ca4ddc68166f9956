#pragma once

#include "traces/history/history.h"
#include "traces/history/words/unknown.h"
#include "viz/tables/table.h"

namespace schedscope::tables {

/// A table of what a state knows of a plan. History and state are borrowed; the state lives until the next `update`.
template <typename Self, typename Row> class PlanTable : public TableOf<Self, Row> {
public:
    History& history() const noexcept { return history_; }
    const PlanState& state() const noexcept { return *state_; }
    bool knows(Topic topic) const noexcept { return history_.knows(topic); }

    Cell backend(BackendId id) const {
        return (id != no_backend       ? Cell(history_.backend_name(id))
                : knows(Topic::passes) ? Cell::nothing("-")
                                       : Cell::unknown())
            .of(id);
    }
    Cell name(TensorId id) const { return id == no_tensor ? Cell() : Cell(history_.tensor_name(*state_, id)); }
    /// Where nothing is said: there is nothing, or the trace lacks what would say it.
    Cell if_told(Topic topic, const Cell& cell) const {
        return !knows(topic) && cell.kind == Cell::Kind::none ? Cell::unknown() : cell;
    }
    Cell text(StringId id) const { return Cell::if_any(history_.source().text(id)); }

protected:
    /// What stands in place of an empty table's rows.
    void say_when_empty(Topic topic, std::string_view what, std::string_view nothing) {
        this->empty_is_unknown_ = !knows(topic);
        this->when_empty_ = knows(topic) ? std::string(nothing) : unknown_for_lack_of(topic, what);
    }
    /// The column `time_ns` holds "not timed" somewhere, or only times.
    void make_room_for_untimed(bool untimed) {
        this->columns_[column_of(*this, "time_ns")].width = untimed ? n_of(std::string_view(not_timed_text)) : 8;
    }
    PlanTable(std::string_view key, History& history) : TableOf<Self, Row>(key), history_(history) {}
    void look_at(const PlanState& state) { state_ = &state; }

private:
    static inline const PlanState nothing_{};
    History& history_;
    const PlanState* state_ = &nothing_;
};

} // namespace schedscope::tables
