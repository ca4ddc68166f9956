#include "traces/replay/foreign/foreign_planner.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/recorder.h"
#include "traces/format/schedscope_stream.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/foreign/compare_real.h"
#include "traces/replay/foreign/llama_age.h"
#include "traces/replay/foreign/real_records.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace schedscope {

namespace {

/// Keeps the facts that a planner writes.
class FactKeeper final : public Recorder {
public:
    explicit FactKeeper(const std::function<StringId(std::string_view)>& intern) : intern_(intern) {}
    std::vector<Fact> facts;

    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override { return intern_(text); }
    void keep(const Record& record) override { facts.push_back(record.fact); }

private:
    const std::function<StringId(std::string_view)>& intern_;
};

/// What a scheduler keeps from plan to plan, by the rules of one age.
struct AgeState {
    Carry carry;
    MemoryPlanner memory;
};

/// A graph planned by the rules of one age.
struct Attempt {
    Plan plan;
    bool planned = false, placed = false;
    std::optional<bool> op_offload; ///< as the program asked for it, or as it decided
    std::string error;
    RealComparison comparison;
    std::vector<Fact> facts;
    std::vector<PlacedTensor> places;
};

/// Plans that all of several ages make as the program did, before all but the newest of them are given up: to make a plan by each
/// takes as long as all of them.
constexpr int64_t enough_plans = 24;

using Ages = std::vector<size_t>; ///< indices into rules_ages, the newest first

/// As far as they follow each other.
std::string name_of(const Ages& ages) {
    size_t n = 1;
    while (n < ages.size() && ages[n] == ages[0] + n) {
        ++n;
    }
    return rules_name(rules_ages()[ages.front()], rules_ages()[ages[n - 1]]);
}

} // namespace

struct ForeignPlanner::State {
    std::map<int32_t, std::map<size_t, AgeState>> schedulers; ///< by the program's number; by age
    std::set<int32_t> watched;                                ///< schedulers whose memory somebody watches from its birth
    Ages ages;                                                ///< whose rules have decided as the program did, so far
    std::string rules;                                        ///< those ages
    int64_t n_plans = 0;
    std::optional<size_t> settled;  ///< the one age that is left of them
    std::optional<bool> op_offload; ///< of the last plan
    std::vector<Fact> facts;

    Attempt attempt(size_t age, AgeState& by, const ForeignPlan& foreign, const OwnBackends& own, const SessionInfo& session,
                    const OwnedGraph& graph, const CapabilityTable& answers,
                    const std::function<StringId(std::string_view)>& intern, bool watched) const;
    static void place(AgeState& by, const RealSubject& subject, const SessionInfo& session, const CapabilityTable& answers,
                      FactKeeper& keeper, Attempt& out);
};

ForeignPlanner::ForeignPlanner() : state_(std::make_unique<State>()) {}
ForeignPlanner::~ForeignPlanner() = default;

std::optional<bool> ForeignPlanner::op_offload() const { return state_->op_offload; }

namespace {

/// The nodes as the backends' optimise steps left them.
std::vector<TensorId> order_of(const RealPlan& real, const GraphView& graph) {
    std::vector<TensorId> nodes(graph.nodes.begin(), graph.nodes.end());
    std::vector<TensorId> order = nodes;
    for (size_t i = 0; i < real.order.size() && i < nodes.size(); ++i) { // those that moved
        order[i] = real.order[i] != no_tensor ? real.order[i] : nodes[i];
    }
    std::vector<TensorId> a = nodes, b = order;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b ? order : nodes;
}

std::vector<KeptUntil> kept_of(const RealPlan& real, const Plan& plan, const OwnBackends& own) {
    std::vector<KeptUntil> kept;
    for (const RealPlan::KeptAlive& k : real.kept) {
        if (const TensorId id = planned_id(plan, own, k.tensor, k.copy); id != no_tensor) {
            keep_until(kept, k.node, id);
        }
    }
    return kept;
}

} // namespace

void ForeignPlanner::State::place(AgeState& by, const RealSubject& subject, const SessionInfo& session,
                                  const CapabilityTable& answers, FactKeeper& keeper, Attempt& out) {
    const RealPlan& real = subject.real;
    Plan& plan = out.plan;
    for (const RealPlan::Place& p : real.places) { // how much a tensor needs is the buffer type's answer, and no decision
        const TensorId id = planned_id(plan, subject.own, p.tensor, p.copy);
        if (id != no_tensor && plan.bytes[id] >= 0 && p.size >= 0) {
            plan.bytes[id] = p.size;
        }
    }
    const std::vector<TensorId> order = order_of(real, subject.graph);
    record_order(plan, subject.graph, order, keeper);
    const std::vector<KeptUntil> kept = kept_of(real, plan, subject.own);
    for (const KeptUntil& k : kept) {
        for (const TensorId id : k.tensors) {
            if (id != no_tensor) {
                keeper.add_in_burst(record::Kept{k.node, id});
            }
        }
    }
    AllocatedGraph allocated;
    copy_graph(subject.graph, plan, order, allocated);
    add_kept(allocated, kept);
    try {
        const MemoryPlan& memory = by.memory.place(subject.graph, plan, allocated, answers, session.buffer_types, &keeper);
        if (!real.places.empty()) {
            compare_memory(subject, plan, &memory, {}, out.comparison);
        }
        out.places = memory.tensors;
        out.placed = true;
    } catch (const PlanError& error) {
        compare_memory(subject, plan, nullptr, error.what(), out.comparison);
    }
}

Attempt ForeignPlanner::State::attempt(size_t age, AgeState& by, const ForeignPlan& foreign, const OwnBackends& own,
                                       const SessionInfo& session, const OwnedGraph& graph, const CapabilityTable& answers,
                                       const std::function<StringId(std::string_view)>& intern, bool watched) const {
    Attempt out;
    PlanOptions options;
    options.n_stages = std::max(foreign.begin.n_stages.value_or(1), 1);
    const std::optional<int32_t> stage = foreign.begin.current_stage;
    options.current_stage = stage ? *stage : stage_of(foreign.real, options.n_stages).value_or(0);
    options.graph_id = foreign.begin.graph;
    options.rules = rules_ages()[age].rules;
    options.reserve = foreign.reserve;
    options.session = &session;
    const GraphView view = graph.view();
    const RealSubject subject{foreign.session, view, own, foreign.real};
    FactKeeper keeper(intern);
    const auto make = [&] {
        keeper.facts.clear();
        out.comparison = {};
        out.error.clear();
        try {
            make_plan(view, answers, options, by.carry, out.plan, &keeper);
            out.planned = true;
        } catch (const PlanError& error) {
            out.planned = false;
            out.error = error.what();
        }
        compare_plan(subject, out.planned ? &out.plan : nullptr, out.error, out.comparison);
        return out.comparison.same_decisions();
    };
    out.op_offload = foreign.begin.op_offload;
    options.op_offload = out.op_offload.value_or(true);
    if (const std::optional<int64_t> asked = llama_age_of(foreign.session).offload_min_batch) {
        options.offload_min_batch = *asked;
        options.offload_option = SSCP_FACT_OFFLOAD_MIN_BATCH;
    }
    const bool may_say_no = !out.op_offload && !options.rules.always_offloads; // not every build lets it be seen
    const Carry before = may_say_no ? by.carry : Carry();
    const auto make_with = [&](bool op_offload) {
        options.op_offload = op_offload;
        by.carry = before;
        return make();
    };
    if (!make() && may_say_no) {
        if (make_with(false)) {
            out.op_offload = false;
        } else {
            make_with(true);
        }
    }
    if (out.planned && watched) {
        place(by, subject, session, answers, keeper, out);
    }
    out.facts = std::move(keeper.facts);
    return out;
}

const std::vector<Fact>& ForeignPlanner::plan(const ForeignPlan& foreign,
                                              const std::function<StringId(std::string_view)>& intern) {
    state_->op_offload = foreign.begin.op_offload;
    try {
        return planned(foreign, intern);
    } catch (const Error& error) {
        const OwnBackends all(foreign.session, {});
        RealComparison comparison;
        compare_plan({foreign.session, foreign.graph, all, foreign.real}, nullptr, error.what(), comparison);
        const Fact end = record::PlanEnd{};
        const OwnedGraph graph = OwnedGraph::copy_of(foreign.graph);
        return state_->facts = records_of({foreign, all, graph, intern}, "", {}, false, comparison, {&end, 1}, {});
    }
}

const std::vector<Fact>& ForeignPlanner::planned(const ForeignPlan& foreign,
                                                 const std::function<StringId(std::string_view)>& intern) {
    State& s = *state_;
    const OwnBackends own(foreign.session, foreign.backends);
    const SessionInfo session = own.session(foreign.session);
    OwnedGraph graph = OwnedGraph::copy_of(foreign.graph);
    own.renumber(graph);
    CapabilityTable answers = own.answers(foreign.answers);
    answers.session = &session;
    require_plannable(session, graph, answers);
    for (const BackendInfo& backend : session.backends) {
        if (!backend.default_buffer_type) {
            throw Error(ErrorKind::input, "nothing can be planned again: the memory of " + backend.name + " is not known");
        }
    }

    const int32_t number = foreign.backends.empty() ? 0 : foreign.backends.front().scheduler;
    std::map<size_t, AgeState>& scheduler = s.schedulers[number];
    if (foreign.real.planned_memory || !foreign.real.places.empty()) {
        s.watched.insert(number);
    }
    const bool watched = s.watched.contains(number);
    std::map<size_t, Attempt> attempts;
    const auto attempt = [&](size_t age) {
        if (!attempts.contains(age)) {
            attempts.emplace(age, s.attempt(age, scheduler[age], foreign, own, session, graph, answers, intern, watched));
        }
    };
    if (s.ages.empty() && foreign.builds) {
        for (const RulesAge& age : rules_of_builds(*foreign.builds)) {
            s.ages.push_back(&age - rules_ages().data());
        }
    }
    const Carry before = s.ages.empty() ? Carry() : scheduler[s.ages.front()].carry;
    for (const size_t age : s.ages) {
        attempt(age);
    }
    const auto is_same = [](const auto& a) { return a.second.comparison.same(); };
    const Ages before_it = s.ages;
    if (std::none_of(attempts.begin(), attempts.end(), is_same)) { // or by the rules of another age, from here on
        for (size_t age = 0; age < rules_ages().size(); ++age) {
            if (!attempts.contains(age)) {
                scheduler[age].carry = before;
                attempt(age);
            }
        }
    }
    // Of a plan that none makes as it was, nothing is learnt of the rules; the nearest is shown.
    const bool reproduced = std::any_of(attempts.begin(), attempts.end(), is_same);
    if (!reproduced && !before_it.empty()) {
        std::erase_if(attempts,
                      [&](const auto& a) { return std::find(before_it.begin(), before_it.end(), a.first) == before_it.end(); });
    }
    int64_t nearest = std::numeric_limits<int64_t>::min();
    for (const auto& [age, a] : attempts) {
        nearest = std::max(nearest, a.comparison.nearness());
    }
    s.ages.clear();
    for (const auto& [age, a] : attempts) {
        if (a.comparison.nearness() == nearest) {
            s.ages.push_back(age);
        }
    }
    if (!s.settled || s.ages.front() != s.settled) {
        s.rules = name_of(s.ages);
        s.settled.reset();
    }
    if (++s.n_plans >= enough_plans) {
        s.ages.resize(1);
        s.settled = s.ages.front();
    }
    const Attempt& by = attempts.at(s.ages.front());
    s.op_offload = by.op_offload;
    s.facts = records_of({foreign, own, graph, intern}, s.rules, by.plan, by.planned, by.comparison, by.facts, by.places);
    return s.facts;
}

} // namespace schedscope
