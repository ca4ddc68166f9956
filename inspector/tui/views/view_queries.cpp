#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <list>
#include <map>

namespace schedscope::tui {
namespace {

/// Queries: operator by backend: how many nodes, how many of them the backend says it can run, how many stand on it now, how often the scheduler has asked it; on
/// the right, the refused ones and why, and what was asked when.
class QueriesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        columns_ = {{"op", 10, false, 0, Field::count, 18},
                    {"backend", backend_width(session), false, 0},
                    {"nodes", 5, true, 0},
                    {"can", 4, true, 0},
                    {"on", 4, true, 0},
                    {"asked", 5, true, 50},
                    {"refused because", 0, false, 0}};
        if (session.graph() == nullptr) {
            now_ = &nothing_;
            return;
        }
        now_ = &known_of(session);
        find_questions(session, *now_);
        count(session, *now_);
    }

    int n_rows() const override { return n_of(now_->rows); }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const Row& r = at(index);
        const int can = n_nodes(r) - n_of(r.refused);
        const auto number = [&](int n) { return is_unknown(r) ? unknown_text : n == 0 ? "·" : std::to_string(n); };
        return {{op(r)},
                backend_text(session, r.backend),
                {std::to_string(n_nodes(r))},
                {!now_->answered ? "?"
                 : can == 0      ? "none"
                                 : std::to_string(can),
                 r.refused.empty() ? Style{} : warning},
                {number(r.n_on)},
                {session.imported() ? unknown_text : number(r.n_asked), dim},
                {r.why, dim}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const Row& r = at(row);
        const std::string_view title = columns_[column].title;
        if (title == "nodes") {
            return n_nodes(r);
        }
        if (title == "can" && now_->answered) {
            return n_nodes(r) - n_of(r.refused);
        }
        if (title == "on") {
            return r.n_on;
        }
        if (title == "asked") {
            return r.n_asked;
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession& session) const override {
        return session.imported() ? "which operators there are is unknown: the log that was imported names none"
                                  : "nothing is planned at this step";
    }
    std::string title(const InspectorSession&) const override { return "queries"; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const int32_t op = now_->op(id);
        if (op < 0) {
            return -1;
        }
        // The backend that is being asked, else the one that the node stands on.
        const auto* q = std::get_if<record::BackendQuery>(&session.record().fact);
        const auto& tensors = session.state().tensors;
        const BackendId meant = q != nullptr && q->tensor == id ? q->backend
                                : is_index(id, tensors)         ? tensors[id].backend
                                                                : no_backend;
        return now_->row(op, std::max<BackendId>(meant, 0));
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override {
        return now_->op(session.selected()) == at(row).op ? session.selected() : nodes(at(row)).front();
    }
    bool changed(const InspectorSession& session, int row) const override {
        const auto* q = std::get_if<record::BackendQuery>(&session.record().fact);
        return q != nullptr && q->backend == at(row).backend && now_->op(q->tensor) == at(row).op;
    }

    std::string detail_title(InspectorSession& session, int row) const override {
        return is_unknown(at(row)) ? "not in the log" : op(at(row)) + " on " + session.backend_name(at(row).backend);
    }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const Row& r = at(row);
        const CapabilityTable& answers = session.history().source().answers(session.state().graph);
        std::vector<Line> lines;
        if (is_unknown(r)) {
            add_wrapped(lines, width, "", 0, "the log tells neither what these compute nor where", warning);
            add_heading(lines, counted(n_nodes(r), "node"));
            add_list(lines, width, nodes(r), [&](TensorId id) {
                lines.push_back(line(tensor_label(session, id), {}, Target::tensor(id)));
                lines.back().now = id == session.selected();
            });
            return lines;
        }
        if (!now_->answered) {
            add_wrapped(lines, width, "", 0, "what it can run is unknown: this trace holds no answers", warning);
        } else {
            add_wrapped(lines, width, "", 0,
                        session.backend_name(r.backend) + " can run " + words::count(n_nodes(r) - r.refused.size()) + " of " +
                            counted(n_nodes(r), (op(r) + " node").c_str()) + "; " + words::count(r.n_on) + " on it at this step");
        }
        if (!r.refused.empty()) {
            add_heading(lines, "refused");
        }
        const auto row_number = [&](TensorId id) { return joined({"#", std::to_string(session.row_of(id))}); };
        add_list(lines, width, r.refused, [&](TensorId id) {
            add_wrapped(lines, width, row_number(id), 7,
                        session.name(id) + ": " + why(answers.op_answers[cell(answers, r.backend, id)]), {}, Target::tensor(id),
                        id == session.selected());
        });
        add_heading(lines, "on it now");
        std::vector<TensorId> here;
        std::copy_if(nodes(r).begin(), nodes(r).end(), std::back_inserter(here),
                     [&](TensorId id) { return stands_on(session, id, r.backend); });
        add_list(lines, width, here, [&](TensorId id) {
            const TensorState& state = session.state().tensors[id];
            add_wrapped(lines, width, row_number(id), 7, session.name(id) + " " + cause_name(state.cause, state.source), {},
                        Target::tensor(id));
        });
        if (session.imported()) {
            add_heading(lines, "what was asked is not in the log");
            return lines;
        }
        add_heading(lines, "asked up to this step: " + words::count(r.n_asked));
        const std::vector<int32_t>& asked_of = now_->asked_of[row];
        const int n_left_out = std::max(r.n_asked - most_listed, 0);
        if (n_left_out > 0) {
            add_wrapped(lines, width, "", 4, "… " + counted(n_left_out, "question") + " before these", dim);
        }
        for (int i = n_left_out; i < r.n_asked; ++i) {
            const AskedAt& asked = now_->asked[asked_of[i]];
            add_wrapped(lines, width, pass_name(asked.query.pass), 4, question_text(session, asked.query),
                        asked.query.yes ? Style{} : warning, Target::step(asked.step), asked.step == session.step());
        }
        return lines;
    }

    Target open(InspectorSession& session, int row) const override {
        return Target::tensor(at(row).refused.empty() ? tensor_of(session, row) : at(row).refused.front());
    }

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        const Row& r = at(row);
        facts.clear();
        facts.kept[0] = session.backend_name(r.backend);
        facts.set(Field::name, op(r));
        facts.set(Field::op, op(r));
        facts.set(Field::backend, facts.kept[0]);
        facts.set(Field::kind, r.refused.empty() ? "yes" : "no");
        facts.set(Field::why, r.why);
    }

private:
    struct OpNodes {
        std::string op;
        std::vector<TensorId> nodes; ///< at least one
        int first_row;               ///< one row a backend; one in all where the log tells neither operator nor backend
    };
    struct Row {
        int32_t op; ///< index into ops
        BackendId backend;
        std::vector<TensorId> refused;
        std::string why; ///< of the first refused one
        int n_on = 0, n_asked = 0;
    };
    struct AskedAt {
        Step step;
        record::BackendQuery query;
    };
    /// What is known of a plan: of its graph all, of the questions as far as they were looked at.
    struct Known {
        GraphId graph = -1;
        Step begin = no_step; ///< of the evaluation that made the plan
        BackendId n_backends = 0;
        bool answered = false;      ///< the trace holds what the backends said
        std::vector<OpNodes> ops;   ///< by name
        std::vector<int32_t> op_of; ///< by tensor
        std::vector<Row> rows;      ///< by operator, then backend
        std::vector<AskedAt> asked; ///< before the step asked_until
        Step asked_until = no_step;
        std::vector<std::vector<int32_t>> asked_of; ///< by row, indices into asked

        int row(int32_t op, BackendId backend) const {
            const OpNodes& nodes = ops[op];
            return nodes.first_row + (nodes.op == unknown_text ? 0 : backend);
        }
        /// Index into ops of a node; −1: it is none.
        int32_t op(TensorId id) const { return is_index(id, op_of) ? op_of[id] : -1; }
    };
    static constexpr int most_listed = 500; ///< lines of one list in the detail: no user reads more, and each key would draw them

    const Row& at(int row) const { return now_->rows[row]; }
    const std::vector<TensorId>& nodes(const Row& row) const { return now_->ops[row.op].nodes; }
    const std::string& op(const Row& row) const { return now_->ops[row.op].op; }
    /// Of nodes that a log leaves out.
    bool is_unknown(const Row& row) const { return op(row) == unknown_text; }
    int n_nodes(const Row& row) const { return n_of(nodes(row)); }
    static size_t cell(const CapabilityTable& answers, BackendId backend, TensorId id) {
        return backend * static_cast<size_t>(answers.n_tensors) + id;
    }
    static bool stands_on(const InspectorSession& session, TensorId id, BackendId backend) {
        const auto& tensors = session.state().tensors;
        return is_index(id, tensors) && tensors[id].backend == backend;
    }
    /// A line for each of them, as far as they are listed, and how many are not.
    template <typename F>
    static void add_list(std::vector<Line>& lines, int width, const std::vector<TensorId>& list, F&& add_line) {
        const size_t n = std::min(list.size(), static_cast<size_t>(most_listed));
        std::for_each(list.begin(), list.begin() + n, add_line);
        if (n < list.size()) {
            add_wrapped(lines, width, "", 7, "… " + words::count(list.size() - n) + " more", dim);
        }
    }
    static std::string question_text(const InspectorSession& session, const record::BackendQuery& q) {
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
        return text;
    }
    static std::string why(const Answer& answer) {
        std::string text(refusal_name(answer.reason));
        return answer.detail.empty() ? text : text + ": " + std::string(answer.detail);
    }

    /// Of the plan that the step's evaluation runs; those that were looked at last are kept.
    Known& known_of(const InspectorSession& session) {
        const GraphId graph = session.state().graph;
        const Step begin = session.history().evaluation(session.state().planned_in).first;
        const auto known =
            std::find_if(kept_.begin(), kept_.end(), [&](const Known& k) { return k.graph == graph && k.begin == begin; });
        if (known != kept_.end()) {
            kept_.splice(kept_.begin(), kept_, known);
            return kept_.front();
        }
        constexpr size_t most_kept = 3;
        if (kept_.size() == most_kept) {
            kept_.pop_back();
        }
        kept_.push_front(read_graph(session));
        kept_.front().begin = kept_.front().asked_until = begin;
        return kept_.front();
    }

    /// A graph's operators, and what each backend said of their nodes.
    static Known read_graph(const InspectorSession& session) {
        Known known;
        known.graph = session.state().graph;
        known.n_backends = narrow<BackendId>(session.n_backends());
        const OwnedGraph& graph = *session.graph();
        const CapabilityTable& answers = session.history().source().answers(known.graph);
        known.answered = !answers.op_answers.empty();
        std::map<std::string, std::vector<TensorId>> by_op;
        for (const TensorId id : graph.nodes) {
            by_op[operator_text(graph.tensors[id])].push_back(id);
        }
        known.op_of.assign(graph.tensors.size(), -1);
        for (auto& [op, nodes] : by_op) {
            const auto index = n_of(known.ops);
            for (const TensorId id : nodes) {
                known.op_of[id] = index;
            }
            const auto first_row = n_of(known.rows);
            if (op == unknown_text) {
                known.rows.push_back({index, no_backend, {}, "these are not in the log"});
            }
            for (BackendId b = 0; b < known.n_backends && op != unknown_text; ++b) {
                Row row{index, b, {}, {}};
                std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(row.refused),
                             [&](TensorId id) { return known.answered && !answers.op_answers[cell(answers, b, id)].yes; });
                if (!row.refused.empty()) {
                    row.why = why(answers.op_answers[cell(answers, b, row.refused.front())]);
                }
                known.rows.push_back(std::move(row));
            }
            known.ops.push_back({op, std::move(nodes), first_row});
        }
        known.asked_of.resize(known.rows.size());
        return known;
    }

    /// What was asked while the plan was made, up to the session's step.
    static void find_questions(const InspectorSession& session, Known& known) {
        const Step end = std::min(session.history().evaluation(session.state().planned_in).end, session.step() + 1);
        if (known.asked_until >= end) {
            return;
        }
        const RecordSource& source = session.history().source();
        source.for_each_of(fact_bit<record::BackendQuery>(), known.asked_until, end, [&](const Record& record) {
            const auto& query = std::get<record::BackendQuery>(record.fact);
            if (const int32_t op = known.op(query.tensor); op >= 0 && query.backend >= 0 && query.backend < known.n_backends) {
                known.asked_of[known.row(op, query.backend)].push_back(n_of(known.asked));
                known.asked.push_back({record.step, query});
            }
        });
        known.asked_until = end;
    }

    /// What depends on the step.
    static void count(const InspectorSession& session, Known& known) {
        for (size_t i = 0; i < known.rows.size(); ++i) {
            const auto& asked = known.asked_of[i];
            const auto later = [&](Step step, int32_t at) { return step < known.asked[at].step; };
            known.rows[i].n_asked = int_of(std::upper_bound(asked.begin(), asked.end(), session.step(), later) - asked.begin());
            known.rows[i].n_on = 0;
        }
        const auto& tensors = session.state().tensors;
        for (size_t id = 0; id < std::min(known.op_of.size(), tensors.size()); ++id) {
            if (const BackendId b = tensors[id].backend; known.op_of[id] >= 0 && b >= 0 && b < known.n_backends) {
                ++known.rows[known.row(known.op_of[id], b)].n_on;
            }
        }
    }

    std::list<Known> kept_; ///< the last one looked at first
    Known nothing_;
    Known* now_ = &nothing_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_queries_view() { return std::make_unique<QueriesView>(); }

} // namespace schedscope::tui
