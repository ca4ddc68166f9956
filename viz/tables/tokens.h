#pragma once

#include "traces/history/accounts/tokens.h"
#include "viz/tables/plan_table.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace schedscope::tables {

/// What each sampler of a chain did for a token.
class SamplersTable final : public PlanTable<SamplersTable, accounts::SamplerRow> {
public:
    SamplersTable(History& history, std::vector<accounts::SamplerRow> chain);
    static std::span<const Entry> entries();
};

inline constexpr std::string_view sampled_tokens_words = "which tokens were sampled"; ///< what is unknown without them

/// The tokens of the whole trace.
class TokensTable final : public PlanTable<TokensTable, accounts::TokenRow> {
public:
    explicit TokensTable(History& history);
    static std::span<const Entry> entries();
    std::string_view kind(int) const override { return "token"; }
};

/// A sampler of a sequence, and where it ran or why not in the graph: each once, however many tokens it was asked for.
struct SamplerPlace {
    accounts::SamplerRow sampler;
    int32_t seq = 0;
};
class SamplerPlacesTable final : public PlanTable<SamplerPlacesTable, SamplerPlace> {
public:
    SamplerPlacesTable(History& history, const std::vector<accounts::TokenRow>& tokens);
    static std::span<const Entry> entries();
};

/// The evaluations up to a step: what went in, whether the graph was used again or which check failed, what came out.
class EvaluationsTable final : public PlanTable<EvaluationsTable, EvaluationId> {
public:
    explicit EvaluationsTable(History& history);
    void update(const PlanState& state);
    void update_to_end(); ///< all of the trace
    static std::span<const Entry> entries();
    std::string_view kind(int row) const override;

    EvaluationSpan span(EvaluationId id) const { return history().evaluation(id); }
    bool is_over(const EvaluationSpan& span) const { return span.complete && state().step >= span.end - 1; }
    Cell time(EvaluationId id) const;
    /// What came out of it up to the step, as text: the sequences' tokens with " │ " between.
    const std::string& tokens(EvaluationId id) const;

private:
    Cell time_of(const EvaluationSpan& whole) const;

    struct Kept {
        std::string text;
        bool whole = false;
    };
    std::shared_ptr<PlanState> end_; ///< of the trace; tables are moved, and this stays
    mutable std::unordered_map<EvaluationId, Kept> tokens_;
    mutable std::unordered_map<EvaluationId, Cell> times_; ///< of whole ones: of another program all records are read
};

} // namespace schedscope::tables
