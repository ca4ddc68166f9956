#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"
#include "inspector/tui/view.h"

#include <algorithm>
#include <map>

namespace schedscope::tui {
namespace {

/// Queries: operator by backend: how many nodes, how many of them the backend says it can run, how many stand on it now; on the right, the refused ones and why.
class QueriesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
        columns_ = {{"op", 11, false, 0},  {"backend", backend_width(session), false, 0},
                    {"nodes", 5, true, 0}, {"can", 4, true, 0},
                    {"on", 4, true, 0},    {"refused because", 0, false, 0}};
        rows_.clear();
        const OwnedGraph* const graph = session.graph();
        if (!graph)
            return;
        const CapabilityTable& answers = session.history().source().answers(session.state().graph);
        std::map<std::string_view, std::vector<TensorId>> by_op;
        for (const TensorId id : graph->nodes) {
            const TensorInfo& info = graph->tensors[static_cast<size_t>(id)];
            by_op[op_description(info.op, info.params[0])].push_back(id);
        }
        for (const auto& [op, nodes] : by_op) {
            for (BackendId b = 0; b < session.n_backends(); ++b) {
                Row row{op, b, 0, 0, {}, {}};
                row.n_nodes = static_cast<int>(nodes.size());
                for (const TensorId id : nodes) {
                    const auto at = static_cast<size_t>(id);
                    row.n_on += at < session.state().tensors.size() && session.state().tensors[at].backend == b;
                    const size_t cell = static_cast<size_t>(b) * static_cast<size_t>(answers.n_tensors) + at;
                    if (cell >= answers.op_answers.size() || answers.op_answers[cell].yes)
                        continue;
                    row.refused.push_back(id);
                    if (row.why.empty())
                        row.why = why(answers.op_answers[cell]);
                }
                rows_.push_back(std::move(row));
            }
        }
    }

    int n_rows() const override { return static_cast<int>(rows_.size()); }

    std::vector<Text> row(Session& session, int index, int) const override {
        const Row& r = at(index);
        const int can = r.n_nodes - static_cast<int>(r.refused.size());
        return {{std::string(r.op)},
                backend_text(session, r.backend),
                {std::to_string(r.n_nodes)},
                {can == 0 ? "none" : std::to_string(can), r.refused.empty() ? Style{} : warning},
                {r.n_on == 0 ? "·" : std::to_string(r.n_on)},
                {r.why, dim}};
    }

    std::string empty_text(const Session&) const override { return "nothing is planned at this step"; }
    std::string title(const Session&) const override { return "queries"; }

    int row_of(const Session& session, TensorId id) const override {
        if (id == no_tensor || session.is_copy(id) || !session.graph())
            return -1;
        const TensorInfo& info = session.graph()->tensors[static_cast<size_t>(id)];
        const auto op = op_description(info.op, info.params[0]);
        const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.op == op; });
        return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
    }
    TensorId tensor_of(const Session& session, int row) const override {
        const TensorId now = session.selected();
        if (now != no_tensor && !session.is_copy(now)) {
            const TensorInfo& info = session.graph()->tensors[static_cast<size_t>(now)];
            if (op_description(info.op, info.params[0]) == at(row).op)
                return now;
        }
        for (const TensorId id : session.graph()->nodes) {
            const TensorInfo& info = session.graph()->tensors[static_cast<size_t>(id)];
            if (op_description(info.op, info.params[0]) == at(row).op)
                return id;
        }
        return no_tensor;
    }
    bool changed(const Session& session, int row) const override {
        const auto* q = std::get_if<record::Query>(&session.record().fact);
        if (!q || q->backend != at(row).backend || session.row_of(q->tensor) < 0 || session.is_copy(q->tensor))
            return false;
        const TensorInfo& info = session.graph()->tensors[static_cast<size_t>(q->tensor)];
        return op_description(info.op, info.params[0]) == at(row).op;
    }

    std::string detail_title(Session& session, int row) const override {
        return std::string(at(row).op) + " on " + session.backend_name(at(row).backend);
    }

    std::vector<Line> detail(Session& session, int row, int width) const override {
        const Row& r = at(row);
        const CapabilityTable& answers = session.history().source().answers(session.state().graph);
        std::vector<Line> lines;
        add_wrapped(lines, width, "", 0,
                    session.backend_name(r.backend) + " can run " + grouped(r.n_nodes - static_cast<int64_t>(r.refused.size())) +
                        " of " + counted(r.n_nodes, (std::string(r.op) + " node").c_str()) + "; " + grouped(r.n_on) +
                        " on it at this step");
        if (!r.refused.empty())
            add_heading(lines, "refused");
        for (const TensorId id : r.refused) {
            const Answer& answer = answers.op_answers[static_cast<size_t>(r.backend) * static_cast<size_t>(answers.n_tensors) +
                                                      static_cast<size_t>(id)];
            add_wrapped(lines, width, joined({"#", std::to_string(session.row_of(id))}), 7, session.name(id) + ": " + why(answer),
                        {}, Target::tensor(id), id == session.selected());
        }
        add_heading(lines, "on it now");
        for (const TensorId id : session.graph()->nodes) {
            const TensorInfo& info = session.graph()->tensors[static_cast<size_t>(id)];
            const auto index = static_cast<size_t>(id);
            if (index < session.state().tensors.size() && session.state().tensors[index].backend == r.backend &&
                op_description(info.op, info.params[0]) == r.op)
                add_wrapped(lines, width, joined({"#", std::to_string(session.row_of(id))}), 7,
                            session.name(id) + " " +
                                cause_name(session.state().tensors[index].cause, session.state().tensors[index].source),
                            {}, Target::tensor(id));
        }
        return lines;
    }

    Target open(Session& session, int row) const override {
        return Target::tensor(at(row).refused.empty() ? tensor_of(session, row) : at(row).refused.front());
    }

    void facts(Session& session, int row, Facts& facts) const override {
        const Row& r = at(row);
        facts.clear();
        facts.kept[0] = session.backend_name(r.backend);
        facts.set(Field::name, r.op);
        facts.set(Field::op, r.op);
        facts.set(Field::backend, facts.kept[0]);
        facts.set(Field::kind, r.refused.empty() ? "yes" : "no");
        facts.set(Field::why, r.why);
    }

private:
    struct Row {
        std::string_view op;
        BackendId backend;
        int n_nodes, n_on;
        std::vector<TensorId> refused;
        std::string why; ///< of the first refused one
    };
    const Row& at(int row) const { return rows_[static_cast<size_t>(row)]; }
    static std::string why(const Answer& answer) {
        std::string text(refusal_name(answer.reason));
        return answer.detail.empty() ? text : text + ": " + std::string(answer.detail);
    }

    std::vector<Row> rows_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_queries_view() { return std::make_unique<QueriesView>(); }

} // namespace schedscope::tui
