// verdicts_again TRACE…: plans what programs on ggml planned again, as it was when they were recorded, from traces in which all
// was reproduced, and says how many verdicts or stories are others now. mutations.mjs builds it with one rule of the planner
// broken at a time.
#include "runtime/error.h"
#include "traces/format/interner.h"
#include "traces/replay/foreign/foreign_planner.h"
#include "traces/store/reading/reader.h"

#include <cstdio>
#include <map>

namespace {

using namespace schedscope;

/// What stands beside the decisions: why each tensor runs where it does, and by which build's rules it was planned again.
struct Story {
    std::map<TensorId, std::string> causes;
    std::string rules;

    void read(const Fact& fact, const auto& text) {
        if (const auto* const assign = std::get_if<record::Assign>(&fact)) {
            causes[assign->tensor] = assign->cause ? cause_name(*assign->cause, assign->source) : "";
        } else if (const auto* const verdict = std::get_if<record::Verdict>(&fact)) {
            rules = text(verdict->rules);
        }
    }
};

/// One plan of a trace, as whoever watched the scheduler saw it.
struct Watched {
    record::PlanBegin begin;
    std::vector<record::PlanBackend> backends;
    RealPlan real;
    Story story;
    bool compared = false, reproduced = false;
};

class Reading {
public:
    Reading(const TraceReader& trace, Watched& to) : trace_(trace), to_(to) {}

    void take(const Fact& fact) {
        to_.story.read(fact, [this](StringId id) { return trace_.text(id); });
        std::visit([this](const auto& f) { read(f); }, fact);
    }

    void finish() {
        const OwnedGraph& graph = trace_.graph(to_.begin.graph);
        for (const auto* list : {&graph.leafs, &graph.nodes}) {
            for (const TensorId id : *list) {
                const auto found = assigned_.find(id);
                to_.real.assigned.push_back({id, found == assigned_.end() ? no_backend : found->second});
            }
        }
        if (!places_are_known_) { // those in the trace are planned ones
            to_.real.places.clear();
        }
    }

private:
    void read(const record::PlanBegin& f) { to_.begin = f; }
    void read(const record::PlanBackend& f) { to_.backends.push_back(f); }
    void read(const record::Assign& f) { assigned_[f.tensor] = f.after.value_or(no_backend); }
    void read(const record::SplitBegin& f) {
        to_.real.splits.push_back({f.backend.value_or(no_backend), f.first_node.value_or(0), 0, {}});
    }
    void read(const record::SplitInput& f) { to_.real.splits.at(f.split).inputs.push_back(f.tensor); }
    void read(const record::SplitEnd& f) { to_.real.splits.at(f.index).end_node = f.end_node.value_or(0); }
    void read(const record::CopyMade& f) { copies_[f.copy] = {f.of, f.backend, f.stage.value_or(-1)}; }
    void read(const record::Rewired& f) { to_.real.sources.push_back({f.node, f.source, copies_.at(f.copy)}); }
    void read(const record::Reorder& f) {
        std::vector<TensorId>& order = to_.real.order;
        if (order.empty()) {
            order = trace_.graph(to_.begin.graph).nodes;
        }
        order.at(f.to) = f.node;
    }
    void read(const record::Kept& f) {
        const auto copy = copies_.find(f.tensor);
        const bool is_copy = copy != copies_.end();
        to_.real.kept.push_back({f.node, is_copy ? no_tensor : f.tensor, is_copy ? copy->second : RealCopy{}});
    }
    void read(const record::Placement& f) {
        const auto copy = copies_.find(f.tensor);
        const bool is_copy = copy != copies_.end();
        to_.real.places.push_back(
            {is_copy ? no_tensor : f.tensor, is_copy ? copy->second : RealCopy{}, f.buffer_type, f.chunk, f.offset, f.size});
    }
    void read(const record::BufferSize&) { to_.real.planned_memory = true; }
    void read(const record::Verdict& f) {
        to_.compared = true;
        to_.reproduced = f.reproduced();
        places_are_known_ = f.placements.has_value() && f.placements != 0;
    }
    template <typename F> void read(const F&) {}

    const TraceReader& trace_;
    Watched& to_;
    std::map<TensorId, BackendId> assigned_;
    std::map<TensorId, RealCopy> copies_;
    bool places_are_known_ = false;
};

/// Each plan is counted once: by what it decides, else by its memory, else by the rules that fit it, else by its causes.
struct Counts {
    int64_t plans = 0, differ = 0, memory_alone = 0, rules_alone = 0, causes_alone = 0;
};

/// The first cause that is another one; twice the same: there is none.
std::pair<std::string, std::string> other_cause(const Story& ours, const Story& theirs) {
    for (const auto& [tensor, cause] : theirs.causes) {
        const auto found = ours.causes.find(tensor);
        if (found == ours.causes.end() || found->second != cause) {
            return {found == ours.causes.end() ? "none" : found->second, cause};
        }
    }
    return {};
}

/// Counts of the trace's plans, and the first difference.
void plan_again(const TraceReader& trace, Counts& counts, std::string& first) {
    std::map<EvaluationId, Watched> plans;
    std::map<EvaluationId, Reading> readings;
    std::vector<std::pair<EvaluationId, EvaluationId>> order; // an evaluation, and whose plan it is
    trace.for_each(0, trace.n_steps(), [&](const Record& r) {
        if (const auto* begin = std::get_if<record::EvaluationBegin>(&r.fact);
            begin != nullptr && begin->repeats_plan(r.evaluation)) {
            order.emplace_back(r.evaluation, begin->planned_in);
        } else if (std::holds_alternative<record::PlanBegin>(r.fact)) {
            order.emplace_back(r.evaluation, r.evaluation);
            readings.emplace(r.evaluation, Reading(trace, plans[r.evaluation]));
        }
        if (const auto reading = readings.find(r.evaluation); reading != readings.end()) {
            reading->second.take(r.fact);
        }
    });
    for (auto& reading : readings) {
        reading.second.finish();
    }
    const SessionInfo session = trace.session();
    const auto builds = read_builds(session_fact(session, "build"));
    ForeignPlanner planner;
    Interner texts;
    for (const auto& [evaluation, planned_in] : order) {
        const auto found = plans.find(planned_in);
        if (found == plans.end() || !found->second.compared) {
            continue;
        }
        const Watched& watched = found->second;
        const OwnedGraph& graph = trace.graph(watched.begin.graph);
        const bool reserve = trace.evaluation(evaluation).begin.kind == GraphKind::reserve;
        const GraphView view = graph.view();
        const auto intern = [&](std::string_view text) { return texts.intern(text); };
        const std::vector<Fact>& facts = planner.plan(
            {session, view, trace.answers(watched.begin.graph), watched.begin, watched.backends, watched.real, reserve, builds},
            intern);
        const auto* const verdict = facts.empty() ? nullptr : std::get_if<record::Verdict>(&facts.back());
        const auto text = [&](StringId id) { return texts.text(id); };
        Story story;
        for (const Fact& fact : facts) {
            story.read(fact, text);
        }
        const auto note = [&first](std::string words) {
            if (first.empty()) {
                first = std::move(words);
            }
        };
        ++counts.plans;
        if (verdict == nullptr || verdict->reproduced() != watched.reproduced) {
            ++counts.differ;
            counts.memory_alone += verdict != nullptr && verdict->decisions == verdict->identical ? 1 : 0;
            note(verdict == nullptr ? "" : std::string(text(verdict->first)));
        } else if (story.rules != watched.story.rules) {
            ++counts.differ;
            ++counts.rules_alone;
            note("planned by the rules of " + story.rules + ", not of " + watched.story.rules);
        } else if (const auto [ours, theirs] = other_cause(story, watched.story); ours != theirs) {
            ++counts.differ;
            ++counts.causes_alone;
            note(ours + " instead of " + theirs);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    Counts counts;
    std::string first;
    for (int i = 1; i < argc; ++i) {
        try {
            plan_again(TraceReader(argv[i]), counts, first);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", argv[i], error.what());
            return 3;
        }
    }
    std::printf("%lld of %lld plans differ, %lld in their memory alone, %lld in the rules that fit, %lld in causes: %s\n",
                static_cast<long long>(counts.differ), static_cast<long long>(counts.plans),
                static_cast<long long>(counts.memory_alone), static_cast<long long>(counts.rules_alone),
                static_cast<long long>(counts.causes_alone), first.c_str());
    return counts.differ > 0 ? 1 : 0;
}
