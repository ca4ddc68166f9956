#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/generated_text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "traces/history/words/unknown.h"
#include "viz/tables/tokens.h"

#include <algorithm>
#include <unordered_map>

namespace schedscope::tui {
namespace {

/// Tokens & reuse: above, the texts; below, the evaluations up to this step: what went in, whether the graph was used again or
/// which check failed, what came out.
class TokensView final : public View {
public:
    explicit TokensView(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override {
        table_.update(session.state());
        texts_.update(session);
    }

    std::string title(const InspectorSession&) const override { return "tokens & reuse"; }

    Drawing* drawing() override { return &texts_; }

    int row_of(const InspectorSession& session, TensorId) const override {
        return session.state().evaluation < n_rows() ? session.state().evaluation : -1;
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
        std::string in;
        const auto add = [&](const std::optional<int32_t>& n, const char* what) {
            if (n || session.shows_unknown()) {
                in += (in.empty() ? "" : ", ") + (n ? counted(*n, what) : std::string(unknown_text) + " " + what + "s");
            }
        };
        add(span.begin.n_tokens, "token");
        add(span.begin.n_sequences, "sequence");
        add(span.begin.n_outputs, "output");
        if (!in.empty()) {
            add_wrapped(lines, width, "in", 8, in);
        }
        if (span.begin.reused) {
            add_wrapped(lines, width, "graph", 8, "used again, planned in evaluation " + std::to_string(span.begin.planned_in),
                        {}, Target::evaluation(span.begin.planned_in));
        } else if (span.begin.failed_check != 0) {
            add_wrapped(lines, width, "graph", 8,
                        "planned again, because this check of the last one failed: " + text(span.begin.failed_check));
        } else {
            add_wrapped(lines, width, "graph", 8, "planned");
        }
        if (span.begin.observed) {
            add_wrapped(lines, width, "", 8, "computed in pieces: it was stepped, watched or verified", warning);
        }

        std::vector<Line> input, sampled, out;
        for (const Record& record : records(session, span)) {
            if (const auto* t = std::get_if<record::UbatchToken>(&record.fact)) {
                add_wrapped(input, width, words::count(t->position), 7,
                            (!t->token       ? "a token that was left out"
                             : *t->token < 0 ? "an embedding"
                                             : "token " + std::to_string(*t->token)) +
                                ", sequence " + std::to_string(t->sequence) + (t->output ? ", output" : ""),
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
                            (token->token ? std::to_string(*token->token) : "left out") +
                                (token->text.value_or(0) != 0 ? " \"" + text(*token->text) + "\"" : "") + ", of " +
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
        append("ubatch, by position", input);
        return lines;
    }

    Target open(InspectorSession&, int row) const override { return Target::evaluation(row); }

private:
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
    tables::EvaluationsTable table_;
    GeneratedText texts_;
};

} // namespace

std::unique_ptr<View> make_tokens_view(InspectorSession& session) { return std::make_unique<TokensView>(session); }

} // namespace schedscope::tui
