#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "viz/tables/groups.h"

#include <algorithm>
#include <unordered_map>
#include <variant>

namespace schedscope::tui {
namespace {

/// Fusion & order: what each backend's optimise step did to its splits: nodes run as one kernel, pairs it could not fuse and why,
/// nodes it moved.
class FusionView final : public View {
public:
    explicit FusionView(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override {
        const PlanState& state = session.state();
        table_.update(state);
        const auto counted_if_known = [&](const auto& list) {
            return list.empty() && !session.knows(Topic::fusion) ? unknown_text : words::count(n_of(list));
        };
        title_ = n_rows() == 0 ? "fusion & order"
                               : "fusion & order " + counted_if_known(state.fusions) + ", " + counted_if_known(state.not_fused) +
                                     " apart, " + words::count(n_of(state.reorders)) + " moved";
    }

    std::string title(const InspectorSession&) const override { return title_; }

    int row_of(const InspectorSession&, TensorId id) const override {
        for (int i = 0; i < n_rows(); ++i) {
            if (const std::vector<TensorId> all = table_.nodes(at(i)); std::find(all.begin(), all.end(), id) != all.end()) {
                return i;
            }
        }
        return -1;
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override {
        const std::vector<TensorId> all = table_.nodes(at(row));
        if (all.empty() || std::find(all.begin(), all.end(), session.selected()) != all.end()) {
            return session.selected();
        }
        return all.front();
    }
    bool changed(const InspectorSession& session, int row) const override {
        const std::vector<TensorId> all = table_.nodes(at(row));
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
                if (e.split == f->split && e.count == f->count && !table_.nodes(at(row)).empty() &&
                    e.first == table_.nodes(at(row)).front()) {
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
        add_wrapped(lines, width, "split", 8, std::to_string(split) + " on " + session.backend_name(table_.backend_of(at(row))),
                    {}, Target::split(split));
        if (std::holds_alternative<record::Reorder>(at(row))) {
            add_order(session, lines, split);
            return lines;
        }
        add_heading(lines, "nodes");
        for (const TensorId id : table_.nodes(at(row))) {
            Line l = line(tensor_label(session, id), {}, Target::tensor(id));
            l.now = id == session.selected();
            lines.push_back(std::move(l));
        }
        return lines;
    }

    Target open(InspectorSession& session, int row) const override { return Target::tensor(tensor_of(session, row)); }

private:
    const tables::GroupRow& at(int row) const { return table_.rows()[row]; }

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
        for (int32_t i = s.first_node(); i < s.end_node && is_index(i, order); ++i) {
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
    tables::GroupsTable table_;
    std::string title_;
};

} // namespace

std::unique_ptr<View> make_fusion_view(InspectorSession& session) { return std::make_unique<FusionView>(session); }

} // namespace schedscope::tui
