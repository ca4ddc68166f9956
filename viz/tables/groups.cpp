#include "viz/tables/groups.h"

#include <algorithm>

namespace schedscope::tables {

using query::Field;

std::span<const GroupsTable::Entry> GroupsTable::entries() {
    using T = const GroupsTable&;
    using R = const GroupRow&;
    static const Entry list[] = {
        {{.key = "what",
          .title = "what",
          .help = "fused: one kernel; apart: could have been; moved: runs at another place",
          .width = 5},
         [](T, R r) {
             constexpr const char* words[] = {"fused", "apart", "moved"};
             constexpr Tone tones[] = {Tone::strong, Tone::quiet, Tone::plain};
             return Cell(words[r.index()]).in(tones[r.index()]);
         }},
        {{.key = "split",
          .title = "split",
          .help = "that it lies in",
          .unit = Unit::number,
          .width = 5,
          .from_width = 50,
          .field = Field::split,
          .tone = Tone::quiet},
         [](T, R r) { return std::visit([](const auto& f) { return Cell(f.split); }, r); }},
        {{.key = "backend",
          .title = "backend",
          .help = "that did it",
          .unit = Unit::backend,
          .from_width = 40,
          .field = Field::backend},
         [](T t, R r) { return t.backend(t.backend_of(r)); }},
        {{.key = "kernel", .help = "that the nodes run as", .field = Field::kernel},
         [](T t, R r) {
             const auto* fusion = std::get_if<record::Fusion>(&r);
             return fusion == nullptr ? Cell() : t.text(fusion->kernel);
         }},
        {{.key = "why", .help = "why they do not run as one", .field = Field::why},
         [](T t, R r) {
             const auto* apart = std::get_if<record::NotFused>(&r);
             return apart == nullptr ? Cell() : t.text(apart->why);
         }},
        {{.title = "kernel or why",
          .help = "what the nodes run as, why they do not run as one, or the places before and now",
          .width = 13,
          .most = 34},
         [](T t, R r) {
             if (const auto* moved = std::get_if<record::Reorder>(&r)) {
                 return Cell(std::to_string(moved->from) + " → " + std::to_string(moved->to));
             }
             const auto* fusion = std::get_if<record::Fusion>(&r);
             return t.text(fusion != nullptr ? fusion->kernel : std::get<record::NotFused>(r).why);
         }},
        {{.key = "nodes", .help = "that it is about, in the order in which they run", .unit = Unit::names},
         [](T t, R r) {
             std::vector<Cell> names;
             for (const TensorId id : t.nodes(r)) {
                 names.push_back(t.name(id));
             }
             return Cell(std::move(names));
         }},
        {{.key = "ids", .help = "the numbers of these nodes", .unit = Unit::words},
         [](T t, R r) { return Cell::of_each(t.nodes(r)); }},
        {{.title = "nodes",
          .help = "that it is about, in the order in which they run; NAME@ID where several have the name",
          .unit = Unit::names},
         [](T t, R r) {
             std::vector<Cell> names;
             for (const TensorId id : t.nodes(r)) {
                 names.emplace_back(t.history().unique_name(t.state(), id));
             }
             return Cell(std::move(names));
         }},
        {{.key = "time_ns",
          .title = "time",
          .help = "of the kernel in this evaluation",
          .unit = Unit::time,
          .width = 8,
          .from_width = 72,
          .field = Field::time},
         [](T t, R r) { return t.time_of(r); }},
    };
    return list;
}

GroupsTable::GroupsTable(History& history) : PlanTable("fusion", history) {}

void GroupsTable::update(const PlanState& state) {
    look_at(state);
    say_when_empty(Topic::order, "what was fused or moved",
                   !state.planned         ? "nothing was fused or moved up to this step: the optimise step comes after pass 5"
                   : knows(Topic::fusion) ? "no nodes were fused or moved"
                                          : "no nodes were moved; " + summary());
    rows_.clear();
    rows_.insert(rows_.end(), state.fusions.begin(), state.fusions.end());
    rows_.insert(rows_.end(), state.not_fused.begin(), state.not_fused.end());
    rows_.insert(rows_.end(), state.reorders.begin(), state.reorders.end());
    times_.clear();
    for (const record::Execute& e : state.executed) {
        if (e.count > 1) {
            times_[e.first] = e.end_ns - e.start_ns;
        }
    }
    const std::vector<record::Execute> untimed = history().untimed_kernels(state);
    for (const record::Execute& e : untimed) {
        if (e.count > 1) {
            times_[e.first] = Cell::nothing(not_timed_text);
        }
    }
    make_room_for_untimed(!untimed.empty());
}

std::string GroupsTable::summary() const {
    return knows(Topic::fusion) ? "" : unknown_for_lack_of(Topic::fusion, "what was fused");
}

std::string_view GroupsTable::kind(int row) const {
    constexpr std::string_view kinds[] = {"fusion", "not_fused", "reorder"};
    return kinds[rows_[row].index()];
}

std::vector<TensorId> GroupsTable::nodes(const GroupRow& row) const {
    if (const auto* f = std::get_if<record::Fusion>(&row)) {
        const auto& order = state().order;
        const auto first = std::min(static_cast<size_t>(std::max(f->first, 0)), order.size());
        const auto count = std::min(static_cast<size_t>(std::max(f->count, 0)), order.size() - first);
        return {order.begin() + first, order.begin() + static_cast<std::ptrdiff_t>(first + count)};
    }
    if (const auto* f = std::get_if<record::NotFused>(&row)) {
        return {f->first, f->second};
    }
    return {std::get<record::Reorder>(row).node};
}

BackendId GroupsTable::backend_of(const GroupRow& row) const {
    const int32_t split = std::visit([](const auto& f) { return f.split; }, row);
    return is_index(split, state().splits) ? state().splits[split].backend() : no_backend;
}

Cell GroupsTable::time_of(const GroupRow& row) const {
    const std::vector<TensorId> all = nodes(row);
    const auto found = !std::holds_alternative<record::Fusion>(row) || all.empty() ? times_.end() : times_.find(all.front());
    return found == times_.end() ? Cell() : found->second;
}

std::span<const OrdersTable::Entry> OrdersTable::entries() {
    using T = const OrdersTable&;
    using R = const SplitOrder&;
    static const Entry list[] = {
        {{.key = "split", .title = "split", .help = "whose order it is", .unit = Unit::number},
         [](T, R r) -> Cell { return r.split; }},
        {{.key = "order", .title = "order", .help = "the places that its nodes had before, as they run now", .unit = Unit::words},
         [](T, R r) { return Cell::of_each(r.order); }},
    };
    return list;
}

void OrdersTable::update(const PlanState& state) {
    rows_.clear();
    for (const SplitState& split : state.splits) {
        SplitOrder row{split.begin.index, {}};
        for (int32_t i = split.first_node(); i < split.end_node; ++i) {
            row.order.push_back(i);
        }
        bool moved = false;
        for (const record::Reorder& f : state.reorders) {
            const int64_t at = int64_t{f.to} - split.first_node();
            if (f.split == split.begin.index && is_index(at, row.order)) {
                row.order[at] = f.from;
                moved = true;
            }
        }
        if (moved) {
            rows_.push_back(std::move(row));
        }
    }
}

} // namespace schedscope::tables
