#include "traces/history/accounts/tokens.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>

namespace schedscope::accounts {

std::string SamplerRow::marked() const {
    std::string text(backend != no_backend ? "+" : refused ? "-" : "");
    return text += name;
}

bool SamplerRow::draws() const noexcept {
    constexpr std::array<std::string_view, 4> random{"dist", "xtc", "mirostat", "mirostat_v2"};
    return std::find(random.begin(), random.end(), name) != random.end();
}

bool TokenRow::used_seed() const noexcept { return std::any_of(chain.begin(), chain.end(), std::mem_fn(&SamplerRow::draws)); }

std::vector<std::string> TokenRow::samplers() const {
    std::vector<std::string> names;
    for (const SamplerRow& sampler : chain) {
        names.push_back(sampler.marked());
    }
    return names;
}

std::vector<TokenRow> tokens(History& history) {
    const auto text = [&](StringId id) { return std::string(history.source().text(id)); };
    constexpr FactSet kinds = fact_set<record::Sample, record::NextToken>();
    std::vector<TokenRow> rows;
    std::map<int32_t, std::vector<SamplerRow>> samplers; // by sequence, since its last token
    for (Step at = history.source().next_of(-1, kinds); at != no_step; at = history.source().next_of(at, kinds)) {
        const Record r = history.record(at);
        if (const auto* sample = std::get_if<record::Sample>(&r.fact)) {
            samplers[sample->sequence].push_back({text(sample->sampler), sample->backend, sample->refused,
                                                  text(sample->why_not_in_graph), sample->candidates, sample->n_nodes});
        } else if (const auto* token = std::get_if<record::NextToken>(&r.fact)) {
            rows.push_back({r.evaluation, token->sequence, token->token, text(token->text.value_or(0)),
                            std::move(samplers[token->sequence]), token->candidates, token->host_bytes});
            samplers.erase(token->sequence);
        }
    }
    return rows;
}

} // namespace schedscope::accounts
