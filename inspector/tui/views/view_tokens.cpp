#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/generated_text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <unordered_map>

namespace schedscope::tui {
namespace {

/// Tokens & reuse: above, the texts; below, the evaluations up to this step: what went in, whether the graph was used again or which check failed, what came out.
class TokensView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        n_rows_ = session.step() == no_step ? 0 : session.state().evaluation + 1;
        columns_ = {{"eval", std::max(4, n_of(std::to_string(n_rows_))), true, 0, Field::evaluation},
                    {"graph", 7, false, 0, Field::count, 9},
                    {"in", 4, true, 0},
                    {"seqs", 4, true, 76},
                    {"reuse", 9, false, 0, Field::count, 26},
                    {"took", 8, true, 62},
                    {"token", 0, false, 0}};
        texts_.update(session);
    }

    int n_rows() const override { return n_rows_; }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const EvaluationSpan span = session.history().evaluation(index);
        std::string reuse = span.begin.reused ? "reused" : std::string(session.history().source().text(span.begin.failed_check));
        if (!span.begin.reused) {
            reuse = reuse.empty() ? "planned" : "new: " + reuse;
        }
        const bool imported = span.begin.kind == GraphKind::imported;
        return {{std::to_string(index), dim},
                {std::string(graph_kind_name(span.begin.kind))},
                {imported && span.begin.n_tokens == 0 ? unknown_text : std::to_string(span.begin.n_tokens)},
                {imported && span.begin.n_sequences == 0 ? unknown_text : std::to_string(span.begin.n_sequences), dim},
                {reuse, span.begin.reused ? dim : Style{}},
                {imported                 ? std::string(unknown_text) // when the log was read is not when it was computed
                 : is_over(session, span) ? time_text(duration(session, span))
                                          : "…",
                 dim},
                {imported ? std::string(unknown_text) : tokens(session, index, span)}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const EvaluationSpan span = session.history().evaluation(row);
        const std::string_view title = columns_[column].title;
        if (title == "in" && (span.begin.n_tokens > 0 || span.begin.kind != GraphKind::imported)) {
            return span.begin.n_tokens;
        }
        if (title == "seqs") {
            return span.begin.n_sequences;
        }
        if (title == "took" && is_over(session, span)) {
            return duration(session, span);
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession&) const override { return "no evaluation has begun yet"; }
    std::string title(const InspectorSession&) const override { return "tokens & reuse"; }

    Drawing* drawing() override { return &texts_; }

    int row_of(const InspectorSession& session, TensorId) const override {
        return session.state().evaluation < n_rows_ ? session.state().evaluation : -1;
    }
    TensorId tensor_of(const InspectorSession&, int) const override { return no_tensor; }
    bool changed(const InspectorSession& session, int row) const override { return session.state().evaluation == row; }

    std::string detail_title(InspectorSession&, int row) const override { return "evaluation " + std::to_string(row); }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const EvaluationSpan span = session.history().evaluation(row);
        const auto text = [&](StringId id) { return std::string(session.history().source().text(id)); };
        std::vector<Line> lines;
        add_wrapped(lines, width, "steps", 8, words::count(span.first) + " to " + words::count(span.end - 1), {},
                    Target::step(span.first));
        const bool unknown = span.begin.n_tokens == 0 && span.begin.kind == GraphKind::imported;
        add_wrapped(lines, width, "in", 8,
                    unknown ? "the log does not tell"
                            : counted(span.begin.n_tokens, "token") + ", " + counted(span.begin.n_sequences, "sequence") + ", " +
                                  counted(span.begin.n_outputs, "output"));
        if (span.begin.reused) {
            add_wrapped(lines, width, "graph", 8, "used again, planned in evaluation " + std::to_string(span.begin.planned_in),
                        {}, Target::evaluation(span.begin.planned_in));
        } else if (span.begin.failed_check != 0) {
            add_wrapped(lines, width, "graph", 8,
                        "planned anew, because this check of the last one failed: " + text(span.begin.failed_check));
        } else {
            add_wrapped(lines, width, "graph", 8, "planned");
        }
        if (span.begin.observed) {
            add_wrapped(lines, width, "", 8, "not in one piece, because somebody watched", warning);
        }

        std::vector<Line> input, sampled, out;
        for (const Record& record : records(session, span)) {
            if (const auto* t = std::get_if<record::UbatchToken>(&record.fact)) {
                add_wrapped(input, width, words::count(t->position), 7,
                            (t->token < 0 ? "an embedding" : "token " + std::to_string(t->token)) + ", sequence " +
                                std::to_string(t->sequence) + (t->output ? ", output" : ""),
                            {}, Target::step(record.step), record.step == session.step());
            } else if (const auto* s = std::get_if<record::Sample>(&record.fact)) {
                std::string what(s->backend != no_backend ? "+" : s->refused ? "-" : "");
                what += text(s->sampler) + " on " +
                        (s->backend == no_backend ? "the host"
                                                  : session.backend_name(s->backend) + " (" + counted(s->n_nodes, "node") + ")") +
                        ", " + counted(s->candidates, "candidate") + " left";
                if (s->why_not_in_graph != 0) {
                    what += " (not in the graph: " + text(s->why_not_in_graph) + ")";
                }
                add_wrapped(sampled, width, "seq " + std::to_string(s->sequence), 7, what, {}, Target::step(record.step),
                            record.step == session.step());
            } else if (const auto* token = std::get_if<record::NextToken>(&record.fact)) {
                add_wrapped(out, width, "seq " + std::to_string(token->sequence), 7,
                            std::to_string(token->token) + (token->text != 0 ? " \"" + text(token->text) + "\"" : "") + ", of " +
                                counted(token->candidates, "candidate") + ", " + words::bytes(token->host_bytes) + " to the host",
                            bold, Target::step(record.step), record.step == session.step());
            }
        }
        const auto append = [&](const char* heading, std::vector<Line>& part) {
            if (part.empty()) {
                return;
            }
            add_heading(lines, heading);
            lines.insert(lines.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
        };
        append("chosen", out);
        append("samplers", sampled);
        append("ubatch", input);
        return lines;
    }

    Target open(InspectorSession&, int row) const override { return Target::evaluation(row); }

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        const EvaluationSpan span = session.history().evaluation(row);
        facts.clear();
        facts.kept[0] = tokens(session, row, span);
        facts.set(Field::name, facts.kept[0]);
        facts.set(Field::type, graph_kind_name(span.begin.kind));
        facts.set(Field::kind, span.begin.reused ? "reused" : "planned");
        facts.set(Field::why, session.history().source().text(span.begin.failed_check));
        facts.set(Field::evaluation, row);
        facts.set(Field::step, span.first);
    }

private:
    static bool is_over(const InspectorSession& session, const EvaluationSpan& span) {
        return span.complete && session.step() >= span.end - 1;
    }
    static int64_t duration(InspectorSession& session, const EvaluationSpan& span) {
        return session.history().record(span.end - 1).time_ns - session.history().record(span.first).time_ns;
    }
    /// Of ubatch, samplers and tokens, up to the present step. They stand at the two ends of an evaluation.
    static std::vector<Record> records(InspectorSession& session, const EvaluationSpan& span) {
        constexpr Step head = 2048, tail = 512;
        const Step end = std::min(span.end, session.step() + 1);
        std::vector<Record> all;
        const Step first_end = std::min(span.first + head, end);
        session.history().source().read(span.first, first_end, all);
        if (first_end < end) {
            session.history().source().read(std::max(first_end, end - tail), end, all);
        }
        return all;
    }
    /// What came out of an evaluation, as text. Kept once the evaluation is complete.
    const std::string& tokens(InspectorSession& session, int index, const EvaluationSpan& span) const {
        const bool whole = span.complete && session.step() >= span.end - 1;
        if (const auto kept = tokens_.find(index); kept != tokens_.end() && whole && kept->second.whole) {
            return kept->second.text;
        }
        std::string text;
        constexpr Step tail = 512;
        const Step end = std::min(span.end, session.step() + 1);
        std::vector<Record> last;
        session.history().source().read(std::max(span.first, end - tail), end, last);
        for (const Record& record : last) {
            if (const auto* token = std::get_if<record::NextToken>(&record.fact)) {
                text +=
                    (text.empty() ? "" : " │ ") +
                    (token->text != 0 ? std::string(session.history().source().text(token->text)) : std::to_string(token->token));
            }
        }
        return (tokens_[index] = {std::move(text), whole}).text;
    }

    struct Kept {
        std::string text;
        bool whole = false;
    };
    int n_rows_ = 0;
    GeneratedText texts_;
    std::vector<Column> columns_;
    mutable std::unordered_map<int, Kept> tokens_;
};

} // namespace

std::unique_ptr<View> make_tokens_view() { return std::make_unique<TokensView>(); }

} // namespace schedscope::tui
