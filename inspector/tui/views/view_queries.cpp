#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/words.h"
#include "viz/tables/queries.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Queries: operator by backend: how many nodes, how many of them the backend says it can run, how many stand on it now, how
/// often the scheduler has asked it; on the right, the refused ones and why, and what was asked when.
class QueriesView final : public View {
public:
    explicit QueriesView(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override { table_.update(session.state()); }
    std::string title(const InspectorSession&) const override { return "queries"; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const int32_t op = table_.op_of(id);
        if (op < 0) {
            return -1;
        }
        // The backend that is being asked, else the one that the node stands on.
        const auto* q = std::get_if<record::BackendQuery>(&session.record().fact);
        const auto& tensors = session.state().tensors;
        const BackendId meant = q != nullptr && q->tensor == id ? q->backend
                                : is_index(id, tensors)         ? tensors[id].backend
                                                                : no_backend;
        return table_.row_of(op, std::max<BackendId>(meant, 0));
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override {
        return table_.op_of(session.selected()) == at(row).op ? session.selected() : table_.nodes(at(row)).front();
    }
    bool changed(const InspectorSession& session, int row) const override {
        const auto* q = std::get_if<record::BackendQuery>(&session.record().fact);
        return q != nullptr && q->backend == at(row).backend && table_.op_of(q->tensor) == at(row).op;
    }

    std::string detail_title(InspectorSession& session, int row) const override {
        return table_.is_unknown(at(row)) ? "not known" : table_.op(at(row)) + " on " + session.backend_name(at(row).backend);
    }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const Row& r = at(row);
        std::vector<Line> lines;
        if (table_.is_unknown(r)) {
            add_wrapped(lines, width, "", 0, "what these compute and where is not known", warning);
            add_heading(lines, counted(table_.n_nodes(r), "node"));
            add_list(lines, width, table_.nodes(r), [&](TensorId id) {
                lines.push_back(line(tensor_label(session, id), {}, Target::tensor(id)));
                lines.back().now = id == session.selected();
            });
            return lines;
        }
        if (!table_.answered()) {
            add_wrapped(lines, width, "", 0, "what it can run is unknown: this trace holds no answers", warning);
        } else {
            add_wrapped(lines, width, "", 0,
                        session.backend_name(r.backend) + " can run " +
                            words::count(table_.n_nodes(r) - r.refused->nodes.size()) + " of " +
                            counted(table_.n_nodes(r), (table_.op(r) + " node").c_str()) + "; " + words::count(r.n_on) +
                            " on it at this step");
        }
        if (!r.refused->nodes.empty()) {
            add_heading(lines, "refused");
        }
        const auto row_number = [&](TensorId id) { return joined({"#", std::to_string(session.row_of(id))}); };
        add_list(lines, width, r.refused->nodes, [&](TensorId id) {
            const Answer& answer = table_.answer(r.backend, id);
            const std::string why = words::refusal(answer.reason, answer.detail);
            add_wrapped(lines, width, row_number(id), 7, session.name(id) + (why.empty() ? "" : ": " + why), {},
                        Target::tensor(id), id == session.selected());
        });
        add_heading(lines, "on it now");
        std::vector<TensorId> here;
        std::copy_if(table_.nodes(r).begin(), table_.nodes(r).end(), std::back_inserter(here),
                     [&](TensorId id) { return stands_on(session, id, r.backend); });
        add_list(lines, width, here, [&](TensorId id) {
            const TensorState& state = session.state().tensors[id];
            add_wrapped(lines, width, row_number(id), 7, session.name(id) + " " + cause_text(state.cause, state.source), {},
                        Target::tensor(id));
        });
        if (!session.knows(Topic::passes)) {
            add_heading(lines, unknown_for_lack_of(Topic::passes, "what was asked"));
            return lines;
        }
        add_heading(lines, "asked up to this step: " + words::count(r.n_asked));
        const int n_left_out = std::max(r.n_asked - most_listed, 0);
        if (n_left_out > 0) {
            add_wrapped(lines, width, "", 4, "… " + counted(n_left_out, "question") + " before these", dim);
        }
        for (int i = n_left_out; i < r.n_asked; ++i) {
            const tables::QueriesTable::AskedAt& asked = table_.asked(row, i);
            add_wrapped(lines, width, pass_name(asked.query.pass), 4, question_text(session, asked.query),
                        asked.query.yes ? Style{} : warning, Target::step(asked.step), asked.step == session.step());
        }
        return lines;
    }

    Target open(InspectorSession& session, int row) const override {
        return Target::tensor(at(row).refused->nodes.empty() ? tensor_of(session, row) : at(row).refused->nodes.front());
    }

private:
    using Row = tables::QueriesRow;
    static constexpr int most_listed = 500; ///< lines of one list in the detail: no user reads more, and each key would draw them

    const Row& at(int row) const { return table_.rows()[row]; }
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
            add_wrapped(lines, width, "", 7, "… " + words::and_more(n_of(list) - int_of(n), "node"), dim);
        }
    }
    static std::string question_text(const InspectorSession& session, const record::BackendQuery& q) {
        const History& history = session.history();
        return session.name(q.tensor) + ": " +
               words::asked(q.question, q.question == Question::buffer_type ? history.buffer_type_name(q.buffer_type) : "", q.yes,
                            words::refusal(q.reason, history.source().text(q.detail)));
    }

    tables::QueriesTable table_;
};

} // namespace

std::unique_ptr<View> make_queries_view(InspectorSession& session) { return std::make_unique<QueriesView>(session); }

} // namespace schedscope::tui
