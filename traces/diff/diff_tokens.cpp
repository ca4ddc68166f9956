// What differs in what went in and what came out: prompts, generated tokens, the samplers that chose them.

#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/tokens.h"

namespace schedscope::diff {

namespace {

/// The tokens of an evaluation's ubatch, by place; −1: an embedding; nothing: left out of the trace.
std::vector<std::optional<int32_t>> ubatch(const History& history, EvaluationId evaluation) {
    const EvaluationSpan span = history.evaluation(evaluation);
    std::vector<Record> records;
    const Step end = std::min(span.end, span.first + 1 + span.begin.n_tokens.value_or(0));
    if (span.first < end) {
        history.source().read(span.first, end, records);
    }
    std::vector<std::optional<int32_t>> tokens;
    for (const Record& r : records) {
        if (const auto* token = std::get_if<record::UbatchToken>(&r.fact)) {
            tokens.push_back(token->token);
        }
    }
    return tokens;
}

using RowsBySequence = std::map<int32_t, std::vector<const accounts::TokenRow*>>; ///< by sequence

RowsBySequence by_sequence(const std::vector<accounts::TokenRow>& tokens, std::optional<EvaluationId> chosen) {
    RowsBySequence rows;
    for (const accounts::TokenRow& row : tokens) {
        if (!chosen || row.eval == *chosen) {
            rows[row.seq].push_back(&row);
        }
    }
    return rows;
}

bool left_out(const accounts::TokenRow& row) noexcept { return !row.id && row.text.empty(); }

class TokenComparison {
public:
    explicit TokenComparison(Result& result) : result_(result) {}

    void compare(int32_t sequence, size_t place, const accounts::TokenRow* x, const accounts::TokenRow* y) {
        Found found(result_, x == nullptr ? -1 : x->eval, y == nullptr ? -1 : y->eval);
        const std::string subject = "token " + std::to_string(place) + " of sequence " + std::to_string(sequence);
        const bool unknown = (x != nullptr && left_out(*x)) || (y != nullptr && left_out(*y));
        found.compared(2);
        if (!unknown && (x == nullptr || y == nullptr || x->id != y->id || x->text != y->text)) {
            const auto text = [](const accounts::TokenRow* row) { return row == nullptr ? DiffValue{} : DiffValue{row->text}; };
            const auto id = [](const accounts::TokenRow* row) {
                return row == nullptr || !row->id ? DiffValue{} : DiffValue{int64_t{*row->id}};
            };
            TraceDifference& d = found.add(What::token, subject, text(x), text(y));
            d.more = {
                {"sequence", int64_t{sequence}}, {"index", static_cast<int64_t>(place)}, {"token_a", id(x)}, {"token_b", id(y)}};
        }
        if (x != nullptr && y != nullptr && x->samplers() != y->samplers()) {
            TraceDifference& d = found.add(What::sampler, subject, x->samplers(), y->samplers());
            d.more = {{"sequence", int64_t{sequence}}, {"index", static_cast<int64_t>(place)}};
        }
    }

private:
    Result& result_;
};

} // namespace

void compare_prompts(History& a, History& b, const EvaluationPair& evaluations, const std::function<bool()>& number_tells,
                     Found& found) {
    const auto of_a = ubatch(a, evaluations.first), of_b = ubatch(b, evaluations.second);
    found.compared();
    const auto n_tokens = [](const History& history, EvaluationId id, const auto& known) {
        return known.empty() ? history.evaluation(id).begin.n_tokens
                             : std::optional(n_of(known)); // which they are may be unknown
    };
    const auto n_a = n_tokens(a, evaluations.first, of_a), n_b = n_tokens(b, evaluations.second, of_b);
    if (n_a && n_b && *n_a != *n_b && number_tells()) {
        found.add(What::prompt, "tokens", int64_t{*n_a}, int64_t{*n_b}).note = "in number";
    }
    if (of_a.size() != of_b.size()) {
        return;
    }
    int64_t first = -1, n = 0;
    for (size_t i = 0; i < of_a.size(); ++i) {
        if (of_a[i] != of_b[i] && of_a[i] >= 0 && of_b[i] >= 0) {
            first = n == 0 ? i : first;
            ++n;
        }
    }
    if (n > 0) {
        const size_t at = first;
        TraceDifference& d = found.add(What::prompt, "token " + std::to_string(first), int64_t{*of_a[at]}, int64_t{*of_b[at]});
        d.note = std::to_string(n) + " of " + std::to_string(of_a.size()) + " tokens differ";
        d.more = {{"index", first}, {"differ", n}};
    }
}

void compare_tokens(History& a, History& b, const std::optional<EvaluationPair>& chosen, Result& result) {
    if (!a.knows(Topic::tokens) || !b.knows(Topic::tokens)) {
        return;
    }
    const std::vector<accounts::TokenRow> tokens_a = accounts::tokens(a), tokens_b = accounts::tokens(b);
    const auto only = [&](EvaluationId EvaluationPair::*member) {
        return chosen ? std::optional<EvaluationId>((*chosen).*member) : std::nullopt;
    };
    const RowsBySequence rows_a = by_sequence(tokens_a, only(&EvaluationPair::first)),
                         rows_b = by_sequence(tokens_b, only(&EvaluationPair::second));
    RowsBySequence sequences = rows_a;
    sequences.insert(rows_b.begin(), rows_b.end());
    TokenComparison comparison(result);
    for (const auto& [sequence, ignored] : sequences) {
        const auto of = [sequence = sequence](const RowsBySequence& rows) {
            const auto found = rows.find(sequence);
            return found == rows.end() ? std::vector<const accounts::TokenRow*>() : found->second;
        };
        const auto x = of(rows_a), y = of(rows_b);
        for (size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
            comparison.compare(sequence, i, i < x.size() ? x[i] : nullptr, i < y.size() ? y[i] : nullptr);
        }
    }
}

} // namespace schedscope::diff
