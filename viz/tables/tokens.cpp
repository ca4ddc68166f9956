#include "viz/tables/tokens.h"

#include "traces/history/accounts/time.h"
#include "traces/history/accounts/tokens.h"
#include "traces/history/describe.h"
#include <algorithm>
#include <set>

namespace schedscope::tables {

using query::Field;

std::span<const SamplersTable::Entry> SamplersTable::entries() {
    using T = const SamplersTable&;
    using R = const accounts::SamplerRow&;
    static const Entry list[] = {
        {{.key = "sampler", .title = "sampler", .help = "its name"}, [](T, R r) -> Cell { return r.name; }},
        {{.key = "backend", .title = "backend", .help = "that ran it in the graph", .unit = Unit::backend},
         [](T t, R r) { return t.backend(r.backend); }},
        {{.key = "refused", .title = "refused", .help = "its backend lacks an operator that it needs"},
         [](T, R r) -> Cell { return r.refused; }},
        {{.key = "why_not_in_graph", .title = "why not in the graph", .help = "why it ran on the host"},
         [](T, R r) { return Cell::if_any(r.why_not_in_graph); }},
        {{.key = "nodes", .title = "nodes", .help = "that it has in the graph", .unit = Unit::number},
         [](T, R r) -> Cell { return r.n_nodes; }},
        {{.key = "candidates", .title = "candidates", .help = "that it left", .unit = Unit::count},
         [](T, R r) -> Cell { return r.candidates; }},
    };
    return list;
}

SamplersTable::SamplersTable(History& history, std::vector<accounts::SamplerRow> chain) : PlanTable("chain", history) {
    rows_ = std::move(chain);
}

std::span<const TokensTable::Entry> TokensTable::entries() {
    using T = const TokensTable&;
    using R = const accounts::TokenRow&;
    static const Entry list[] = {
        {{.key = "eval",
          .title = "eval",
          .help = "the evaluation that it came out of",
          .unit = Unit::number,
          .field = Field::evaluation},
         [](T, R r) -> Cell { return r.eval; }},
        {{.key = "seq", .title = "seq", .help = "the sequence", .unit = Unit::number}, [](T, R r) -> Cell { return r.seq; }},
        {{.key = "id", .title = "id", .help = "the token's number in the vocabulary", .unit = Unit::number},
         [](T, R r) { return r.id ? Cell::from_zero(*r.id) : Cell(); }},
        {{.key = "text", .help = "the token", .field = Field::name}, [](T, R r) -> Cell { return r.text; }},
        {{.title = "text", .help = "the token"}, [](T, R r) -> Cell { return '"' + r.text + '"'; }},
        {{.key = "samplers",
          .title = "samplers",
          .help = "its chain: +in the graph, -refused by the backend, else on the host",
          .unit = Unit::words},
         [](T, R r) { return Cell::of_each(r.samplers()); }},
        {{.key = "chain", .help = "what each of them did", .unit = Unit::rows},
         [](T t, R r) -> Cell { return std::shared_ptr<const Table>(std::make_shared<SamplersTable>(t.history(), r.chain)); }},
        {{.key = "candidates", .title = "candidates", .help = "that it was chosen from", .unit = Unit::count},
         [](T, R r) -> Cell { return r.candidates; }},
        {{.key = "host_bytes",
          .title = "to the host",
          .help = "bytes that the host got for it",
          .unit = Unit::bytes,
          .field = Field::bytes},
         [](T, R r) -> Cell { return r.host_bytes; }},
    };
    return list;
}

TokensTable::TokensTable(History& history) : PlanTable("tokens", history) {
    rows_ = accounts::tokens(history);
    say_when_empty(Topic::tokens, sampled_tokens_words, "no token was sampled");
}

std::span<const SamplerPlacesTable::Entry> SamplerPlacesTable::entries() {
    using T = const SamplerPlacesTable&;
    using R = const SamplerPlace&;
    static const Entry list[] = {
        {{.key = "sampler", .title = "sampler", .help = "+in the graph, -refused by the backend, else on the host"},
         [](T, R r) -> Cell { return r.sampler.marked(); }},
        {{.key = "seq", .title = "seq", .help = "the sequence", .unit = Unit::number}, [](T, R r) -> Cell { return r.seq; }},
        {{.key = "nodes", .title = "nodes", .help = "that it has in the graph", .unit = Unit::number},
         [](T, R r) { return r.sampler.backend != no_backend ? Cell(r.sampler.n_nodes) : Cell(); }},
        {{.key = "backend", .help = "that ran it", .unit = Unit::backend}, [](T t, R r) { return t.backend(r.sampler.backend); }},
        {{.key = "why_not_in_graph", .help = "why it ran on the host"},
         [](T, R r) { return Cell::if_any(r.sampler.why_not_in_graph); }},
        {{.title = "where, or why not in the graph", .help = "its backend, or why it ran on the host"},
         [](T t, R r) -> Cell {
             return r.sampler.backend != no_backend ? "on " + t.history().backend_name(r.sampler.backend)
                                                    : r.sampler.why_not_in_graph;
         }},
    };
    return list;
}

SamplerPlacesTable::SamplerPlacesTable(History& history, const std::vector<accounts::TokenRow>& tokens)
    : PlanTable("sampler_places", history) {
    std::set<std::tuple<std::string, int32_t, BackendId, int32_t, std::string>> said;
    for (const accounts::TokenRow& token : tokens) {
        for (const accounts::SamplerRow& s : token.chain) {
            const bool says = s.backend != no_backend || !s.why_not_in_graph.empty();
            if (says && said.emplace(s.marked(), token.seq, s.backend, s.n_nodes, s.why_not_in_graph).second) {
                rows_.push_back({s, token.seq});
            }
        }
    }
}

std::span<const EvaluationsTable::Entry> EvaluationsTable::entries() {
    using T = const EvaluationsTable&;
    using R = const EvaluationId&;
    static const Entry list[] = {
        {{.key = "eval",
          .title = "eval",
          .help = "the evaluation",
          .unit = Unit::number,
          .width = 4,
          .field = Field::evaluation,
          .tone = Tone::quiet},
         [](T, R id) -> Cell { return id; }},
        {{.key = "step", .help = "its first record", .unit = Unit::number, .field = Field::step},
         [](T t, R id) -> Cell { return t.span(id).first; }},
        {{.key = "kind", .title = "graph", .help = "what it is for", .width = 7, .most = 9, .field = Field::type},
         [](T t, R id) {
             const auto kind = t.span(id).begin.kind;
             return kind ? Cell(graph_kind_name(*kind)) : Cell::nothing(describe_graph(t.history().source(), id));
         }},
        {{.key = "n_tokens", .title = "in", .help = "tokens that went in", .unit = Unit::number, .width = 4},
         [](T t, R id) { return Cell::known(t.span(id).begin.n_tokens); }},
        {{.key = "n_sequences",
          .title = "seqs",
          .help = "sequences that they belong to",
          .unit = Unit::number,
          .width = 4,
          .from_width = 76,
          .tone = Tone::quiet},
         [](T t, R id) { return Cell::known(t.span(id).begin.n_sequences); }},
        {{.key = "reused", .help = "was the graph before used again"},
         [](T t, R id) -> Cell {
             const auto begin = t.span(id).begin;
             return begin.reused && begin.failed_check == 0;
         }},
        {{.key = "failed",
          .help = "the check of the graph before that failed; nothing: none did, or there was none",
          .field = Field::why},
         [](T t, R id) { return t.text(t.span(id).begin.failed_check); }},
        {{.title = "reuse",
          .help = "whether the graph before was used again, or which check of it failed",
          .width = 9,
          .most = 26},
         [](T t, R id) {
             const record::EvaluationBegin begin = t.span(id).begin;
             const std::string_view failed = t.history().source().text(begin.failed_check);
             return begin.reused     ? Cell("reused").in(Tone::quiet)
                    : failed.empty() ? Cell("planned")
                                     : Cell("new: " + std::string(failed));
         }},
        {{.key = "time_ns",
          .title = "took",
          .help = "from its first record to its last",
          .unit = Unit::time,
          .width = 8,
          .from_width = 62,
          .tone = Tone::quiet},
         [](T t, R id) { return t.time(id); }},
        {{.key = "tokens", .title = "token", .help = "what came out of it", .field = Field::name},
         [](T t, R id) { return t.if_told(Topic::tokens, Cell::if_any(t.tokens(id))); }},
    };
    return list;
}

EvaluationsTable::EvaluationsTable(History& history) : PlanTable("reuse", history) {}

void EvaluationsTable::update(const PlanState& state) {
    look_at(state);
    when_empty_ = "no evaluation has begun yet";
    rows_.resize(state.step == no_step ? 0 : state.evaluation + 1);
    for (EvaluationId id = 0; id < n_of(rows_); ++id) {
        rows_[id] = id;
    }
    columns_[0].width = std::max(4, n_of(std::to_string(rows_.size())));
}

void EvaluationsTable::update_to_end() {
    end_ = std::make_shared<PlanState>();
    end_->step = history().n_steps() - 1;
    end_->evaluation = history().n_evaluations() - 1;
    update(*end_);
}

std::string_view EvaluationsTable::kind(int row) const { return span(rows_[row]).begin.reused ? "reused" : "planned"; }

Cell EvaluationsTable::time(EvaluationId id) const {
    const EvaluationSpan span = this->span(id);
    if (!is_over(span)) {
        return Cell::open();
    }
    const auto kept = times_.find(id);
    return kept != times_.end() ? kept->second : times_.emplace(id, time_of(span)).first->second;
}

Cell EvaluationsTable::time_of(const EvaluationSpan& span) const {
    if (span.begin.kind == GraphKind::reserve) {
        return Cell::nothing("not run");
    }
    if (!history().session().settings) { // of another program it may be noticed when work has begun
        const accounts::TimeExtent extent = accounts::time_extent(history().source(), span);
        return extent.time_ns() > 0 ? Cell(extent.time_ns()) : Cell::unknown();
    }
    const Step end = accounts::last_step(history().source(), span.first, span.end);
    const auto first = history().record(span.first).time_ns, last = history().record(end).time_ns;
    return first && last ? Cell(*last - *first) : Cell::unknown();
}

const std::string& EvaluationsTable::tokens(EvaluationId id) const {
    const EvaluationSpan span = this->span(id);
    const bool whole = is_over(span);
    if (const auto kept = tokens_.find(id); kept != tokens_.end() && whole && kept->second.whole) {
        return kept->second.text;
    }
    std::string text;
    constexpr Step tail = 512; // they stand at the end
    const Step end = std::min(span.end, state().step + 1);
    std::vector<Record> last;
    history().source().read(std::max(span.first, end - tail), end, last);
    for (const Record& record : last) {
        if (const auto* token = std::get_if<record::NextToken>(&record.fact)) {
            text +=
                (text.empty() ? "" : " │ ") + (token->text.value_or(0) != 0 ? std::string(history().source().text(*token->text))
                                               : token->token               ? std::to_string(*token->token)
                                                                            : unknown_text);
        }
    }
    return (tokens_[id] = {std::move(text), whole}).text;
}

} // namespace schedscope::tables
