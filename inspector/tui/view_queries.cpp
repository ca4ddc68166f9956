#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"
#include "inspector/tui/view.h"
#include "traces/unknown.h"

#include <algorithm>
#include <map>

namespace schedscope::tui {
namespace {

/// Queries: operator by backend: how many nodes, how many of them the backend says it can run, how many stand on it now, how often the scheduler has asked it; on
/// the right, the refused ones and why, and what was asked when.
class QueriesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
        columns_ = {{"op", 10, false, 0, Field::count, 18},
                    {"backend", backend_width(session), false, 0},
                    {"nodes", 5, true, 0},
                    {"can", 4, true, 0},
                    {"on", 4, true, 0},
                    {"asked", 5, true, 50},
                    {"refused because", 0, false, 0}};
        find_questions(session);
        answered_ = false;
        rows_.clear();
        const OwnedGraph* const graph = session.graph();
        if (!graph) {
            return;
        }
        const CapabilityTable& answers = session.history().source().answers(session.state().graph);
        answered_ = !answers.op_answers.empty();
        std::map<std::string, std::vector<TensorId>> by_op;
        for (const TensorId id : graph->nodes) {
            by_op[op_of(session, id)].push_back(id);
        }
        std::map<std::pair<std::string, BackendId>, int> n_asked;
        for (const Asked& asked : questions_) {
            ++n_asked[{op_of(session, asked.query.tensor), asked.query.backend}];
        }
        for (const auto& [op, nodes] : by_op) {
            if (op == unknown_text) { // neither what they compute nor where: one row
                rows_.push_back({op, no_backend, static_cast<int>(nodes.size()), 0, 0, {}, "these are not in the log"});
                continue;
            }
            for (BackendId b = 0; b < session.n_backends(); ++b) {
                Row row{op, b, 0, 0, 0, {}, {}};
                row.n_nodes = static_cast<int>(nodes.size());
                for (const TensorId id : nodes) {
                    const auto at = static_cast<size_t>(id);
                    row.n_on += at < session.state().tensors.size() && session.state().tensors[at].backend == b;
                    const size_t cell = static_cast<size_t>(b) * static_cast<size_t>(answers.n_tensors) + at;
                    if (cell >= answers.op_answers.size() || answers.op_answers[cell].yes) {
                        continue;
                    }
                    row.refused.push_back(id);
                    if (row.why.empty()) {
                        row.why = why(answers.op_answers[cell]);
                    }
                }
                if (const auto found = n_asked.find({op, b}); found != n_asked.end()) {
                    row.n_asked = found->second;
                }
                rows_.push_back(std::move(row));
            }
        }
    }

    int n_rows() const override { return static_cast<int>(rows_.size()); }

    std::vector<Text> row(Session& session, int index, int) const override {
        const Row& r = at(index);
        const int can = r.n_nodes - static_cast<int>(r.refused.size());
        const auto number = [&](int n) { return unknown(r) ? unknown_text : n == 0 ? "·" : std::to_string(n); };
        return {{r.op},
                backend_text(session, r.backend),
                {std::to_string(r.n_nodes)},
                {!answered_ ? "?"
                 : can == 0 ? "none"
                            : std::to_string(can),
                 r.refused.empty() ? Style{} : warning},
                {number(r.n_on)},
                {session.imported() ? unknown_text : number(r.n_asked), dim},
                {r.why, dim}};
    }

    std::string empty_text(const Session& session) const override {
        return session.imported() ? "which operators there are is unknown: the log that was imported names none"
                                  : "nothing is planned at this step";
    }
    std::string title(const Session&) const override { return "queries"; }

    int row_of(const Session& session, TensorId id) const override {
        // The backend that is being asked, else the one that the node stands on.
        const std::string op = op_of(session, id);
        const auto* q = std::get_if<record::Query>(&session.record().fact);
        const auto& tensors = session.state().tensors;
        const BackendId meant = q && q->tensor == id                                  ? q->backend
                                : id >= 0 && static_cast<size_t>(id) < tensors.size() ? tensors[static_cast<size_t>(id)].backend
                                                                                      : no_backend;
        int first = -1;
        for (size_t i = 0; i < rows_.size() && !op.empty(); ++i) {
            if (rows_[i].op == op) {
                first = first < 0 ? static_cast<int>(i) : first;
                if (rows_[i].backend == meant) {
                    return static_cast<int>(i);
                }
            }
        }
        return first;
    }
    TensorId tensor_of(const Session& session, int row) const override {
        if (op_of(session, session.selected()) == at(row).op) {
            return session.selected();
        }
        const auto& nodes = session.graph()->nodes;
        const auto found =
            std::find_if(nodes.begin(), nodes.end(), [&](TensorId id) { return op_of(session, id) == at(row).op; });
        return found == nodes.end() ? no_tensor : *found;
    }
    bool changed(const Session& session, int row) const override {
        const auto* q = std::get_if<record::Query>(&session.record().fact);
        return q && q->backend == at(row).backend && op_of(session, q->tensor) == at(row).op;
    }

    std::string detail_title(Session& session, int row) const override {
        return unknown(at(row)) ? "not in the log" : at(row).op + " on " + session.backend_name(at(row).backend);
    }

    std::vector<Line> detail(Session& session, int row, int width) const override {
        const Row& r = at(row);
        const CapabilityTable& answers = session.history().source().answers(session.state().graph);
        std::vector<Line> lines;
        if (unknown(r)) {
            add_wrapped(lines, width, "", 0, "the log tells neither what these compute nor where", warning);
            add_heading(lines, counted(r.n_nodes, "node"));
            for (const TensorId id : session.graph()->nodes) {
                if (op_of(session, id) == r.op) {
                    lines.push_back(line(tensor_label(session, id), {}, Target::tensor(id)));
                    lines.back().now = id == session.selected();
                }
            }
            return lines;
        }
        if (!answered_) {
            add_wrapped(lines, width, "", 0, "what it can run is unknown: this trace holds no answers", warning);
        } else {
            add_wrapped(lines, width, "", 0,
                        session.backend_name(r.backend) + " can run " +
                            grouped(r.n_nodes - static_cast<int64_t>(r.refused.size())) + " of " +
                            counted(r.n_nodes, (r.op + " node").c_str()) + "; " + grouped(r.n_on) + " on it at this step");
        }
        if (!r.refused.empty()) {
            add_heading(lines, "refused");
        }
        for (const TensorId id : r.refused) {
            const Answer& answer = answers.op_answers[static_cast<size_t>(r.backend) * static_cast<size_t>(answers.n_tensors) +
                                                      static_cast<size_t>(id)];
            add_wrapped(lines, width, joined({"#", std::to_string(session.row_of(id))}), 7, session.name(id) + ": " + why(answer),
                        {}, Target::tensor(id), id == session.selected());
        }
        add_heading(lines, "on it now");
        for (const TensorId id : session.graph()->nodes) {
            const auto index = static_cast<size_t>(id);
            if (index < session.state().tensors.size() && session.state().tensors[index].backend == r.backend &&
                op_of(session, id) == r.op) {
                add_wrapped(lines, width, joined({"#", std::to_string(session.row_of(id))}), 7,
                            session.name(id) + " " +
                                cause_name(session.state().tensors[index].cause, session.state().tensors[index].source),
                            {}, Target::tensor(id));
            }
        }
        if (session.imported()) {
            add_heading(lines, "what was asked is not in the log");
            return lines;
        }
        add_heading(lines, "asked up to this step: " + std::to_string(r.n_asked));
        for (const Asked& asked : questions_) {
            const record::Query& q = asked.query;
            if (q.backend != r.backend || op_of(session, q.tensor) != r.op) {
                continue;
            }
            std::string text = session.name(q.tensor);
            if (q.question == Question::buffer_type) {
                text += " to use " + session.history().buffer_type_name(q.buffer_type);
            } else if (q.question == Question::offload) {
                text += " to take it over";
            }
            text += q.yes ? ": yes" : ": no, " + std::string(refusal_name(q.reason));
            if (!q.yes && q.detail != 0) {
                text += ": " + std::string(session.history().source().text(q.detail));
            }
            add_wrapped(lines, width, pass_name(q.pass), 4, text, q.yes ? Style{} : warning, Target::step(asked.step),
                        asked.step == session.step());
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
        std::string op;
        BackendId backend;
        int n_nodes, n_on, n_asked;
        std::vector<TensorId> refused;
        std::string why; ///< of the first refused one
    };
    const Row& at(int row) const { return rows_[static_cast<size_t>(row)]; }
    static std::string why(const Answer& answer) {
        std::string text(refusal_name(answer.reason));
        return answer.detail.empty() ? text : text + ": " + std::string(answer.detail);
    }

    /// Of nodes that a log leaves out.
    static bool unknown(const Row& r) { return r.op == unknown_text; }
    /// Of a node; "": it is none.
    static std::string op_of(const Session& session, TensorId id) {
        if (!session.graph() || session.row_of(id) < 0 || session.is_copy(id)) {
            return {};
        }
        const TensorInfo& info = session.graph()->tensors[static_cast<size_t>(id)];
        return info.op == Op::NONE && !left_out_by_log(info) ? std::string() : operator_text(info);
    }
    /// What was asked while the plan of this step was made, up to the step.
    void find_questions(Session& session) {
        const PlanState& state = session.state();
        if (state.step == no_step) {
            return;
        }
        const EvaluationSpan span = session.history().evaluation(state.planned_in);
        if (span.first != of_ || state.step < until_) {
            questions_.clear();
            of_ = span.first;
            until_ = span.first - 1;
        }
        const Step end = std::min(span.end - 1, state.step);
        const RecordSource& source = session.history().source();
        for (Step at = source.next_of(until_, fact_bit<record::Query>()); at != no_step && at <= end;
             at = source.next_of(at, fact_bit<record::Query>())) {
            questions_.push_back({at, std::get<record::Query>(session.history().record(at).fact)});
        }
        until_ = std::max(until_, end);
    }

    struct Asked {
        Step step;
        record::Query query;
    };
    std::vector<Row> rows_;
    std::vector<Asked> questions_; ///< of the plan whose evaluation begins at of_, up to until_
    Step of_ = no_step, until_ = no_step;
    bool answered_ = false; ///< the trace holds what the backends said
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_queries_view() { return std::make_unique<QueriesView>(); }

} // namespace schedscope::tui
