#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/split_bars.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/tables/splits.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Splits: above, how nodes, time and bytes are shared among them; below, why each one starts, what is copied into it and how
/// long it took; on the right, its inputs and nodes.
class SplitsView final : public View {
public:
    explicit SplitsView(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override { table_.update(session.state()); }

    std::string title(const InspectorSession&) const override {
        return n_rows() == 0 ? "splits" : joined({"splits ", words::count(n_rows())});
    }

    Drawing* drawing() override { return &bars_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const auto& state = session.state();
        if (!is_index(id, state.tensors)) {
            return -1;
        }
        const int32_t split = state.tensors[id].split;
        return split < n_rows() ? split : -1;
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override {
        // A tensor of this split stays selected; else the one that starts it.
        return row_of(session, session.selected()) == row ? session.selected() : at(session, row).node();
    }
    bool changed(const InspectorSession& session, int row) const override {
        const SplitState& split = at(session, row);
        const Record& record = session.record();
        if (const auto* f = std::get_if<record::SplitBegin>(&record.fact)) {
            return f->index == split.begin.index;
        }
        if (const auto* f = std::get_if<record::SplitEnd>(&record.fact)) {
            return f->index == split.begin.index;
        }
        if (const auto* f = std::get_if<record::SplitInput>(&record.fact)) {
            return f->split == split.begin.index;
        }
        if (const auto* f = std::get_if<record::Execute>(&record.fact)) {
            return f->split == split.begin.index;
        }
        if (const auto* f = std::get_if<record::Transfer>(&record.fact)) {
            return f->split == split.begin.index;
        }
        const auto* f = std::get_if<record::SplitRun>(&record.fact);
        return f && f->split == split.begin.index;
    }

    std::string detail_title(InspectorSession&, int row) const override { return "split " + std::to_string(row); }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const SplitState& split = at(session, row);
        std::vector<Line> lines;
        Line head;
        Text backend = backend_text(session, split.backend());
        backend.style.bold = true;
        head.parts.push_back(std::move(backend));
        if (!split.begin.first_node) {
            head.parts.push_back({session.shows_unknown() ? "  nodes not known" : ""});
        } else if (split.end_node >= 0) {
            head.parts.push_back({"  " + words::nodes_from_to(split.first_node(), split.end_node - 1)});
        } else {
            head.parts.push_back({"  from node " + std::to_string(split.first_node()) + ", still open"});
        }
        if (const std::optional<int64_t> time = split.time_ns(); time) {
            head.parts.push_back({"  " + time_text(*time)});
        } else if (split.end_ns && session.shows_unknown()) {
            head.parts.push_back({"  time not known"});
        }
        lines.push_back(std::move(head));
        add_wrapped(lines, width, "starts", 8, why(session, split), {},
                    Target::tensor(or_none(split.begin.by) != no_tensor ? *split.begin.by : split.node()));

        const accounts::RecordedSizes sizes(session.history(), session.state());
        const std::optional<int32_t> n_inputs = split.n_inputs();
        add_heading(lines, "inputs " + (n_inputs ? words::count(*n_inputs) : unknown_text) +
                               (split.inputs.empty() ? "" : ", " + words::bytes(sizes.of_inputs(split))));
        for (const record::SplitInput& input : split.inputs) {
            Line l;
            l.parts.push_back({session.name(input.tensor)});
            if (input.from || session.shows_unknown()) {
                l.parts.push_back({" ← "});
                l.parts.push_back(backend_text(session, or_none(input.from)));
            }
            if (input.bytes || session.shows_unknown()) {
                l.parts.push_back({"  " + words::bytes(sizes.of(input.tensor, input.bytes))});
            }
            if (or_none(input.node) != no_tensor) {
                l.parts.push_back({"  for " + session.name(*input.node), dim});
            }
            l.target = Target::tensor(input.tensor);
            lines.push_back(std::move(l));
        }
        add_heading(lines, "nodes");
        const auto& order = session.tensors();
        const int n_nodes = int_of(std::min(session.graph()->nodes.size(), order.size()));
        const int end = std::min(split.end_node < 0 ? split.first_node() + 1 : split.end_node, n_nodes);
        for (int i = split.first_node(); i < end; ++i) {
            const TensorId id = order[i];
            Line l;
            std::string number = std::to_string(i);
            number.insert(0, std::max(5 - n_of(number), 0), ' ');
            std::string op = op_text(session, id);
            op.resize(std::max<size_t>(op.size(), 9), ' ');
            l.parts.push_back({number + " ", dim});
            l.parts.push_back({op + " "});
            l.parts.push_back({session.name(id), id == session.selected() ? bold : Style{}});
            l.hang = int_of(number.size() + op.size()) + 2;
            l.now = subject(session.record().fact) == id;
            l.target = Target::tensor(id);
            lines.push_back(std::move(l));
        }
        return lines;
    }

    Target open(InspectorSession& session, int row) const override { return Target::tensor(tensor_of(session, row)); }

private:
    static const SplitState& at(const InspectorSession& session, int row) { return session.state().splits[row]; }
    static std::string why(InspectorSession& session, const SplitState& split) {
        const TensorId by = or_none(split.begin.by);
        return words::split_begins(split.begin, split.node() == no_tensor ? "" : tensor_label(session, split.node()),
                                   by == no_tensor ? "a source" : session.name(by));
    }

    tables::SplitsTable table_;
    SplitBars bars_;
};

} // namespace

std::unique_ptr<View> make_splits_view(InspectorSession& session) { return std::make_unique<SplitsView>(session); }

} // namespace schedscope::tui
