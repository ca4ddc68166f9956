#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/split_bars.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Splits: above, how nodes, time and bytes are shared among them; below, why each one starts, what is copied into it and how long it took; on the right, its
/// inputs and nodes.
class SplitsView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        n_rows_ = n_of(session.state().splits);
        columns_ = {{"#", 3, true, 0, Field::split},
                    {"backend", backend_width(session), false, 0},
                    {"nodes", 5, true, 0},
                    {"from – to", 11, false, 84},
                    {"starts with", 0, false, 0},
                    {"why", 7, false, 0},
                    {"because of", 12, false, 96, Field::count, 28},
                    {"in", 3, true, 0},
                    {"bytes", 9, true, 52, Field::bytes},
                    {"time", 8, true, 62, Field::time},
                    {"share", 5, true, 74, Field::time}};
        total_ns_ = 0;
        for (const SplitState& split : session.state().splits) {
            total_ns_ += std::max<int64_t>(time_of(split), 0);
        }
    }

    int n_rows() const override { return n_rows_; }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const SplitState& split = at(session, index);
        const int64_t time = time_of(split);
        const bool unknown = split.begin.node == no_tensor && session.imported();
        return {{std::to_string(split.begin.index), dim},
                backend_text(session, split.begin.backend),
                {unknown              ? unknown_text
                 : split.end_node < 0 ? "…"
                                      : std::to_string(split.end_node - split.begin.first_node)},
                {unknown ? unknown_text
                         : std::to_string(split.begin.first_node) + " – " +
                               (split.end_node < 0 ? std::string("…") : std::to_string(split.end_node - 1)),
                 dim},
                {unknown                         ? unknown_text
                 : split.begin.node == no_tensor ? "views only"
                                                 : session.name(split.begin.node)},
                {reason_text(split.begin)},
                {split.begin.by == no_tensor ? "" : session.name(split.begin.by), dim},
                {std::to_string(split.inputs.size())},
                {bytes_or_unknown(bytes_into(split))},
                {time < 0 && (split.end_ns >= 0 || session.imported()) ? unknown_text : time_text(time)},
                {time < 0 || total_ns_ == 0 ? "" : std::to_string(time * 100 / total_ns_) + "%", dim}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const SplitState& split = at(session, row);
        const std::string_view title = columns_[column].title;
        const bool unknown = split.begin.node == no_tensor && is_imported(session.history(), session.state());
        if (title == "nodes" && !unknown && split.end_node >= 0) {
            return split.end_node - split.begin.first_node;
        }
        if (title == "from – to" && !unknown) {
            return split.begin.first_node;
        }
        if (title == "in") {
            return split.inputs.size();
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession&) const override { return "no split yet: pass 5 makes them"; }
    std::string title(const InspectorSession&) const override {
        return n_rows_ == 0 ? "splits" : joined({"splits ", std::to_string(n_rows_)});
    }

    Drawing* drawing() override { return &bars_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const auto& state = session.state();
        if (!is_index(id, state.tensors)) {
            return -1;
        }
        const int32_t split = state.tensors[id].split;
        return split < n_rows_ ? split : -1;
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override {
        // A tensor of this split stays selected; else the one that starts it.
        return row_of(session, session.selected()) == row ? session.selected() : at(session, row).begin.node;
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
        Text backend = backend_text(session, split.begin.backend);
        backend.style.bold = true;
        head.parts.push_back(std::move(backend));
        if (split.end_node <= split.begin.first_node && session.imported()) {
            head.parts.push_back({"  nodes not known"});
        } else if (split.end_node >= 0) {
            head.parts.push_back(
                {"  nodes " + std::to_string(split.begin.first_node) + " to " + std::to_string(split.end_node - 1)});
        } else {
            head.parts.push_back({"  from node " + std::to_string(split.begin.first_node) + ", still open"});
        }
        if (split.end_ns >= 0) {
            head.parts.push_back({"  " + (time_of(split) < 0 ? "time unknown" : time_text(time_of(split)))});
        }
        lines.push_back(std::move(head));
        add_wrapped(lines, width, "starts", 8, why(session, split), {},
                    Target::tensor(split.begin.by != no_tensor ? split.begin.by : split.begin.node));

        add_heading(lines, "inputs " + std::to_string(split.inputs.size()) +
                               (split.inputs.empty()    ? ""
                                : bytes_into(split) < 0 ? ", bytes unknown"
                                                        : ", " + words::bytes(bytes_into(split))));
        for (const record::SplitInput& input : split.inputs) {
            Line l;
            l.parts.push_back({session.name(input.tensor)});
            l.parts.push_back({" ← "});
            l.parts.push_back(backend_text(session, input.from));
            l.parts.push_back({"  " + bytes_or_unknown(input.bytes)});
            if (input.node != no_tensor) {
                l.parts.push_back({"  for " + session.name(input.node), dim});
            }
            l.target = Target::tensor(input.tensor);
            lines.push_back(std::move(l));
        }
        add_heading(lines, "nodes");
        const auto& order = session.tensors();
        const int n_nodes = int_of(std::min(session.graph()->nodes.size(), order.size()));
        const int end = std::min(split.end_node < 0 ? split.begin.first_node + 1 : split.end_node, n_nodes);
        for (int i = std::max(split.begin.first_node, 0); i < end; ++i) {
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

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        const SplitState& split = at(session, row);
        facts.clear();
        facts.kept[0] = session.name(split.begin.node);
        facts.kept[1] = session.backend_name(split.begin.backend);
        facts.kept[2] = session.name(split.begin.by);
        facts.kept[3] = op_text(session, split.begin.node);
        facts.set(Field::name, facts.kept[0]);
        facts.set(Field::backend, facts.kept[1]);
        facts.set(Field::by, facts.kept[2]);
        facts.set(Field::op, facts.kept[3]);
        facts.set(Field::why, reason_known(split.begin) ? split_reason_name(split.begin.why) : std::string_view(unknown_text));
        facts.set(Field::kind, "split");
        facts.set(Field::split, split.begin.index);
        facts.set_known(Field::bytes, bytes_into(split));
        facts.set_known(Field::time, time_of(split));
    }

private:
    static const SplitState& at(const InspectorSession& session, int row) { return session.state().splits[row]; }
    static std::string why(InspectorSession& session, const SplitState& split) {
        const std::string node = split.begin.node == no_tensor ? "its first node" : tensor_label(session, split.begin.node);
        if (!reason_known(split.begin)) {
            return split.begin.backend == no_backend ? "this split is not in the log" : "the log does not tell why";
        }
        switch (split.begin.why) {
        case SplitReason::first: return "first: the graph begins with it, at " + node;
        case SplitReason::backend: {
            const int index = split.begin.index;
            const std::string before = index > 0 ? session.backend_name(at(session, index - 1).begin.backend) : "-";
            return "backend: " + node + " runs on " + session.backend_name(split.begin.backend) + ", the split before on " +
                   before;
        }
        case SplitReason::weight:
            return "weight: " + session.name(split.begin.by) + " of " + node +
                   " lies on another backend, and the split before has inputs already (so their memory can be used again)";
        default:
            return "full: the split before has no room for one more input, and " + node + " needs " +
                   session.name(split.begin.by) + " copied";
        }
    }

    int n_rows_ = 0;
    int64_t total_ns_ = 0; ///< of all splits
    SplitBars bars_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_splits_view() { return std::make_unique<SplitsView>(); }

} // namespace schedscope::tui
