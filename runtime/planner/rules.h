#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace schedscope {

/// What ggml's scheduler and allocator decide otherwise from age to age. The default is what this program plans its own runs by:
/// the rules of August 2026, before v0.5.0. Each switch names the pull request of llama.cpp that changed the rule.
struct PlannerRules {
    // Pass 1.
    bool rope_follows_weights = false;  ///< before #10026: frequencies decide where a ROPE runs
    bool flash_follows_weights = false; ///< before #25832: sinks decide where a FLASH_ATTN_EXT runs
    bool views_lack_buffers = false;    ///< before #10358: a view lies in no buffer of its own, only its source does
    bool views_wait = false;            ///< from #10358 for some days: pass 1 leaves view operators out
    bool offloads_any_memory = false;   ///< before #11120, #11124: also weights that do not lie in host memory
    bool always_offloads = false;       ///< before #13386: no backend can say no
    bool reserve_forgets_pins = false;  ///< from #15696 to #17232: of a graph that memory is reserved for
    // Passes 4 and 5.
    bool leaves_unassigned = false;      ///< before #15118: no backend is looked for at the end of pass 4
    bool readable_weights_split = false; ///< before #10026: a weight elsewhere begins a split although it can be read there
    bool never_full = false;             ///< in v0.5.0: no split ends because it has many inputs
    int32_t split_inputs = 0;            ///< 10 before #15722, 30 before #22789: of any split; 0: room grows from 30
    // Memory.
    bool one_chunk = false;        ///< before #15815: a buffer type's memory is in one piece, however large
    bool first_open_chunk = false; ///< from #15815 to #16788: the first chunk that has room at its end grows
    bool tails_are_lost = false;   ///< before #16679: what is left of a larger source's place that a node took over
    bool fill_moves = false;       ///< before #17870: FILL gets a place of its own

    auto operator<=>(const PlannerRules&) const = default;
};

/// A time in which the rules stayed the same, by the builds of llama.cpp that the pull requests came with.
struct RulesAge {
    int32_t first_build = 0, last_build = 0; ///< 0: from the first, or until now
    PlannerRules rules;
};

/// All of them, the newest first: v0.5.0. This program goes by the one before.
std::span<const RulesAge> rules_ages();

/// Builds of llama.cpp, by number, from the one to the other; 0: there is no such bound.
struct BuildSpan {
    int32_t first = 0, last = 0;
};
/// Of "6673", "b6673", "b3890..b4109", "..b3909"; none: it says something else.
std::optional<BuildSpan> read_builds(std::string_view text);
/// "b5640..b8120", "up to b3991", "b10325 and later", "every build".
std::string text_of(BuildSpan builds);
/// By which rules such builds plan, the newest first.
std::span<const RulesAge> rules_of_builds(BuildSpan builds);
/// The ages from the one to the other, which is as old or older, by their builds.
std::string rules_name(const RulesAge& newest, const RulesAge& oldest);
/// The newest age of such a name; null: there is none.
const RulesAge* rules_named(std::string_view name);

} // namespace schedscope
