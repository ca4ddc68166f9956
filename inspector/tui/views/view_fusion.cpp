#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>
#include <unordered_map>
#include <variant>

namespace schedscope::tui {
namespace {

/// Fusion & order: what each backend's optimise step did to its splits: nodes run as one kernel, pairs it could not fuse and why, nodes it moved.
class FusionView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        const PlanState& state = session.state();
        columns_ = {{"what", 5, false, 0},
                    {"split", 5, true, 50, Field::split},
                    {"backend", backend_width(session), false, 0},
                    {"kernel, or why not", 13, false, 0, Field::count, 34},
                    {"nodes", 0, false, 0},
                    {"time", 8, true, 72}};
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
        title_ = rows_.empty()
                     ? "fusion & order"
                     : "fusion & order " + std::to_string(state.fusions.size()) + ", " + std::to_string(state.not_fused.size()) +
                           " apart, " + std::to_string(state.reorders.size()) + " moved";
    }

    int n_rows() const override { return n_of(rows_); }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const auto text = [&](StringId id) { return std::string(session.history().source().text(id)); };
        const auto names = [&] { return joined(nodes(session, index), " + ", [&](TensorId id) { return session.name(id); }); };
        if (const auto* f = std::get_if<record::Fusion>(&at(index))) {
            const std::vector<TensorId> all = nodes(session, index);
            const auto time = times_.find(all.empty() ? no_tensor : all.front());
            return {{"fused", bold},
                    {std::to_string(f->split), dim},
                    backend_text(session, f->backend),
                    {text(f->kernel)},
                    {names()},
                    {time == times_.end() ? "-" : time_text(time->second)}};
        }
        if (const auto* f = std::get_if<record::NotFused>(&at(index))) {
            return {{"apart", dim},
                    {std::to_string(f->split), dim},
                    backend_text(session, f->backend),
                    {text(f->why)},
                    {names()},
                    {""}};
        }
        const auto& f = std::get<record::Reorder>(at(index));
        return {{"moved"},
                {std::to_string(f.split), dim},
                backend_text(session, backend_of_split(session, f.split)),
                {std::to_string(f.from) + " → " + std::to_string(f.to)},
                {session.name(f.node)},
                {""}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        if (const auto* f = std::get_if<record::Fusion>(&at(row)); f && columns_[column].title == "time") {
            const std::vector<TensorId> all = nodes(session, row);
            const auto time = times_.find(all.empty() ? no_tensor : all.front());
            return time == times_.end() ? std::nullopt : std::optional(to_double(time->second));
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession& session) const override {
        return session.imported() ? "what was fused or moved is unknown: this trace was imported from a log"
                                  : "nothing was fused or moved up to this step: the optimise step comes after pass 5";
    }
    std::string title(const InspectorSession&) const override { return title_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        for (int i = 0; i < n_rows(); ++i) {
            if (const std::vector<TensorId> all = nodes(session, i); std::find(all.begin(), all.end(), id) != all.end()) {
                return i;
            }
        }
        return -1;
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override {
        const std::vector<TensorId> all = nodes(session, row);
        if (all.empty() || std::find(all.begin(), all.end(), session.selected()) != all.end()) {
            return session.selected();
        }
        return all.front();
    }
    bool changed(const InspectorSession& session, int row) const override {
        const std::vector<TensorId> all = nodes(session, row);
        const Fact& fact = session.record().fact;
        if (const auto* f = std::get_if<record::Fusion>(&fact)) {
            const auto* mine = std::get_if<record::Fusion>(&at(row));
            return mine && mine->first == f->first && mine->split == f->split;
        }
        return (std::holds_alternative<record::NotFused>(fact) || std::holds_alternative<record::Reorder>(fact)) &&
               !all.empty() && all.front() == subject(fact);
    }

    std::string detail_title(InspectorSession&, int row) const override {
        return std::holds_alternative<record::Fusion>(at(row))     ? "one kernel"
               : std::holds_alternative<record::NotFused>(at(row)) ? "kept apart"
                                                                   : "moved";
    }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        std::vector<Line> lines;
        const auto text = [&](StringId id) { return std::string(session.history().source().text(id)); };
        if (const auto* f = std::get_if<record::Fusion>(&at(row))) {
            add_wrapped(lines, width, "kernel", 8, text(f->kernel), bold);
            for (const record::Execute& e : session.state().executed) {
                if (e.split == f->split && e.count == f->count && !nodes(session, row).empty() &&
                    e.first == nodes(session, row).front()) {
                    add_wrapped(lines, width, "ran", 8, time_text(e.end_ns - e.start_ns) + (e.device_time ? " (device)" : ""));
                }
            }
        } else if (const auto* apart = std::get_if<record::NotFused>(&at(row))) {
            add_wrapped(lines, width, "because", 8, text(apart->why));
        } else {
            const auto& f2 = std::get<record::Reorder>(at(row));
            add_wrapped(lines, width, "from", 8,
                        "place " + std::to_string(f2.from) + " to place " + std::to_string(f2.to) + " of the graph's nodes");
        }
        const int32_t split = std::visit([](const auto& f) { return f.split; }, at(row));
        add_wrapped(lines, width, "split", 8,
                    std::to_string(split) + " on " + session.backend_name(backend_of_split(session, split)), {},
                    Target::split(split));
        if (std::holds_alternative<record::Reorder>(at(row))) {
            add_order(session, lines, split);
            return lines;
        }
        add_heading(lines, "nodes");
        for (const TensorId id : nodes(session, row)) {
            Line l = line(tensor_label(session, id), {}, Target::tensor(id));
            l.now = id == session.selected();
            lines.push_back(std::move(l));
        }
        return lines;
    }

    Target open(InspectorSession& session, int row) const override { return Target::tensor(tensor_of(session, row)); }

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        facts.clear();
        const auto& row_fact = at(row);
        facts.kept[0] = session.name(nodes(session, row).empty() ? no_tensor : nodes(session, row).front());
        facts.set(Field::name, facts.kept[0]);
        const int32_t split = std::visit([](const auto& f) { return f.split; }, row_fact);
        facts.set(Field::split, split);
        facts.kept[1] = session.backend_name(backend_of_split(session, split));
        facts.set(Field::backend, facts.kept[1]);
        if (const auto* f = std::get_if<record::Fusion>(&row_fact)) {
            facts.set(Field::kernel, session.history().source().text(f->kernel));
            facts.set(Field::kind, "fusion");
        } else if (const auto* apart = std::get_if<record::NotFused>(&row_fact)) {
            facts.set(Field::why, session.history().source().text(apart->why));
            facts.set(Field::kind, "not_fused");
        } else {
            facts.set(Field::kind, "reorder");
        }
    }

private:
    using Row = std::variant<record::Fusion, record::NotFused, record::Reorder>;
    const Row& at(int row) const { return rows_[row]; }

    /// The nodes of a split as they run, and where those stood before that were moved.
    static void add_order(InspectorSession& session, std::vector<Line>& lines, int32_t split) {
        std::unordered_map<TensorId, int32_t> before;
        for (const record::Reorder& r : session.state().reorders) {
            if (r.split == split) {
                before[r.node] = r.from;
            }
        }
        add_heading(lines, "its order: now, before");
        const auto& splits = session.state().splits;
        const auto& order = session.state().order;
        if (!is_index(split, splits)) {
            return;
        }
        const SplitState& s = splits[split];
        const auto right = [](const std::string& text, size_t cells) {
            return std::string(cells - std::min(text.size(), cells), ' ') + text;
        };
        for (int32_t i = std::max(s.begin.first_node, 0); i < s.end_node && is_index(i, order); ++i) {
            const TensorId id = order[i];
            const auto moved = before.find(id);
            Line l;
            l.parts.push_back({right(std::to_string(i), 5), dim});
            if (moved == before.end()) {
                l.parts.push_back({right(std::to_string(i), 6) + "   ", dim});
            } else {
                l.parts.push_back({right(std::to_string(moved->second), 6) + (moved->second > i ? " ↑ " : " ↓ "), bold});
            }
            l.parts.push_back({session.name(id), id == session.selected() ? accent : Style{}});
            l.target = Target::tensor(id);
            l.now = id == session.selected();
            lines.push_back(std::move(l));
        }
    }
    static BackendId backend_of_split(const InspectorSession& session, int32_t split) {
        const auto& splits = session.state().splits;
        return is_index(split, splits) ? splits[split].begin.backend : no_backend;
    }
    std::vector<TensorId> nodes(const InspectorSession& session, int row) const {
        if (const auto* f = std::get_if<record::Fusion>(&at(row))) {
            const auto& order = session.state().order;
            const auto first = std::min(static_cast<size_t>(std::max(f->first, 0)), order.size());
            const auto count = std::min(static_cast<size_t>(std::max(f->count, 0)), order.size() - first);
            return {order.begin() + first, order.begin() + static_cast<std::ptrdiff_t>(first + count)};
        }
        if (const auto* f = std::get_if<record::NotFused>(&at(row))) {
            return {f->first, f->second};
        }
        return {std::get<record::Reorder>(at(row)).node};
    }

    std::vector<Row> rows_;
    std::unordered_map<TensorId, int64_t> times_; ///< of the kernel that begins with a node
    std::string title_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_fusion_view() { return std::make_unique<FusionView>(); }

} // namespace schedscope::tui
