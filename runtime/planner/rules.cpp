#include "runtime/planner/rules.h"

#include "runtime/system/read_number.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

/// A build that came with a pull request, and what was so before it.
struct RuleChange {
    int32_t build = 0;
    void (*undo)(PlannerRules& rules) = nullptr;
};

// The newest first. Builds are counted by commits: where no release is known to be the first with a pull request, the number is
// that of its day. Whoever plans a build's graphs again takes the age that decides as the build did, if its own does not.
constexpr auto changes = std::to_array<RuleChange>({
    {10362, [](PlannerRules& r) { r.never_full = false; }},
    {10325, [](PlannerRules& r) { r.split_inputs = 30; }},
    {10229, [](PlannerRules& r) { r.flash_follows_weights = true; }},
    {7335, [](PlannerRules& r) { r.fill_moves = true; }},
    {7042, [](PlannerRules& r) { r.reserve_forgets_pins = true; }},
    {6851, [](PlannerRules& r) { r.first_open_chunk = true; }},
    {6805, [](PlannerRules& r) { r.tails_are_lost = true; }},
    {6567, [](PlannerRules& r) { r.one_chunk = true, r.first_open_chunk = false; }},
    {6360, [](PlannerRules& r) { r.split_inputs = 10; }},
    {6332, [](PlannerRules& r) { r.reserve_forgets_pins = false; }},
    {6098, [](PlannerRules& r) { r.leaves_unassigned = true; }},
    {5343, [](PlannerRules& r) { r.always_offloads = true; }},
    {4435, [](PlannerRules& r) { r.offloads_any_memory = true; }},
    {4150, [](PlannerRules& r) { r.views_wait = true; }},
    {4115, [](PlannerRules& r) { r.views_wait = false, r.views_lack_buffers = true; }},
    {3992, [](PlannerRules& r) { r.rope_follows_weights = r.readable_weights_split = true; }},
});

std::array<RulesAge, changes.size() + 1> made_ages() {
    std::array<RulesAge, changes.size() + 1> ages;
    ages.front().rules.never_full = true;
    for (size_t i = 0; i < changes.size(); ++i) {
        ages[i].first_build = changes[i].build;
        ages[i + 1].last_build = changes[i].build - 1;
        ages[i + 1].rules = ages[i].rules;
        changes[i].undo(ages[i + 1].rules);
    }
    return ages;
}

} // namespace

std::span<const RulesAge> rules_ages() {
    static const auto ages = made_ages();
    return ages;
}

std::optional<BuildSpan> read_builds(std::string_view text) {
    const auto number = [](std::string_view of) { return read_number<int32_t>(of.substr(of.starts_with("b") ? 1 : 0)); };
    const size_t dots = text.find("..");
    const std::string_view first = text.substr(0, dots), last = dots == text.npos ? first : text.substr(dots + 2);
    const std::optional<int32_t> from = first.empty() ? 0 : number(first), to = last.empty() ? 0 : number(last);
    return text.empty() || !from || !to ? std::nullopt : std::optional(BuildSpan{*from, *to});
}

std::span<const RulesAge> rules_of_builds(BuildSpan builds) {
    const std::span<const RulesAge> ages = rules_ages();
    const auto of = [&](int32_t build) {
        return std::find_if(ages.begin(), ages.end() - 1, [build](const RulesAge& age) { return build >= age.first_build; });
    };
    return {builds.last == 0 ? ages.begin() : of(builds.last), of(builds.first) + 1};
}

std::string text_of(BuildSpan builds) {
    const std::string first = "b" + std::to_string(builds.first), last = "b" + std::to_string(builds.last);
    return builds.first == 0 && builds.last == 0 ? "every build"
           : builds.first == 0                   ? "up to " + last
           : builds.last == 0                    ? first + " and later"
           : builds.first == builds.last         ? first
                                                 : first + ".." + last;
}

std::string rules_name(const RulesAge& newest, const RulesAge& oldest) {
    return text_of(BuildSpan{oldest.first_build, newest.last_build});
}

const RulesAge* rules_named(std::string_view name) {
    const std::span<const RulesAge> ages = rules_ages();
    for (size_t newest = 0; newest < ages.size(); ++newest) {
        for (size_t oldest = newest; oldest < ages.size(); ++oldest) {
            if (rules_name(ages[newest], ages[oldest]) == name) {
                return &ages[newest];
            }
        }
    }
    return nullptr;
}

} // namespace schedscope
