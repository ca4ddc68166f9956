#include "traces/replay/replay.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/recorder.h"
#include "runtime/system/visible_text.h"
#include "traces/format/interner.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/find_tensor.h"
#include "traces/history/words/layer_in_name.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "traces/replay/decisions.h"
#include "traces/replay/foreign/own_backends.h"
#include "traces/replay/plan_change.h"
#include "traces/replay/rehome.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace schedscope {

namespace {

/// Keeps what a planner writes.
class Collector final : public Recorder {
public:
    std::vector<Record> records;
    Interner texts;

    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override { return texts.intern(text); }
    void keep(const Record& record) override { records.push_back(record); }
};

/// A graph that was planned for its memory alone.
struct RecordedReserve {
    record::Reserve fact;
    std::vector<record::Alternative> alternatives;
};

/// What was recorded of one plan, from its PlanBegin to where the next one or its run begins.
struct RecordedPlan {
    EvaluationId evaluation = 0;
    record::PlanBegin begin;
    bool allocates = false;
    std::vector<Record> records;
    std::vector<record::Reorder> reorders;
    std::vector<record::Fusion> fusions;
    std::vector<record::NotFused> not_fused;
    std::vector<record::Alternative> alternatives;
    std::vector<RecordedReserve> reserves; ///< made before it
    // Of another program's plan.
    std::vector<record::PlanBackend> backends; ///< none: all of the session's
    std::vector<record::Kept> kept;
    StringId rules = 0; ///< by which it was planned; empty: this program's
    bool compared = false;
    std::optional<accounts::UnfinishedPlan> stopped; ///< the recording ends within it, not the evaluation
    bool planned = false;                            ///< it has its PlanEnd: of `stopped`, the memory is not whole

    int32_t scheduler() const noexcept { return backends.empty() ? 0 : backends.front().scheduler; }
};

/// The plans of a source, one after the other.
class RecordedPlans {
public:
    /// from: the plans of this evaluation come first, and plans that came again don't count.
    explicit RecordedPlans(const RecordSource& source, std::optional<EvaluationId> from = {})
        : source_(source), n_steps_(source.n_steps()), at_(from ? source.evaluation(*from).first - 1 : -1) {
        if (!from && source.count(fact_bit<record::Verdict>()) > 0) { // elsewhere each plan is there
            source.for_each_of(fact_bit<record::EvaluationBegin>(), 0, n_steps_, [&](const Record& r) {
                const auto& begin = std::get<record::EvaluationBegin>(r.fact);
                if (begin.repeats_plan(r.evaluation)) {
                    repeats_.push_back({r.step, r.evaluation, begin.planned_in});
                }
            });
        }
    }

    std::optional<RecordedPlan> next() {
        const Step plan_at = source_.next_of(at_, fact_bit<record::PlanBegin>());
        for (; next_repeat_ < repeats_.size() && (plan_at == no_step || repeats_[next_repeat_].step < plan_at); ++next_repeat_) {
            const RepeatedPlan& repeat = repeats_[next_repeat_];
            if (const auto made = made_at_.find(repeat.planned_in); made != made_at_.end()) {
                ++next_repeat_;
                RecordedPlan plan = read(made->second);
                plan.evaluation = repeat.evaluation;
                return plan;
            }
        }
        if (plan_at == no_step) {
            return std::nullopt;
        }
        const Step reserve = source_.next_of(at_, fact_set<record::PlanBegin, record::Reserve>());
        at_ = plan_at;
        RecordedPlan plan = read(at_);
        plan.reserves = reserves(reserve, at_);
        if (!repeats_.empty()) {
            made_at_.insert_or_assign(plan.evaluation, at_);
        }
        return plan;
    }

private:
    /// A plan that came to the same as one before, which alone is recorded.
    struct RepeatedPlan {
        Step step;
        EvaluationId evaluation, planned_in;
    };

    RecordedPlan read(Step first) const {
        const Step next = source_.next_of(first, fact_set<record::PlanBegin, record::EvaluationBegin>());
        return read(first, next == no_step ? n_steps_ : next);
    }

    std::vector<RecordedReserve> reserves(Step first, Step end) const {
        std::vector<RecordedReserve> found;
        source_.for_each(first, end, [&](const Record& r) {
            if (const auto* reserve = std::get_if<record::Reserve>(&r.fact)) {
                found.push_back({*reserve, {}});
            } else if (const auto* other = std::get_if<record::Alternative>(&r.fact); other != nullptr && !found.empty()) {
                found.back().alternatives.push_back(*other);
            }
        });
        return found;
    }

    RecordedPlan read(Step first, Step end) const {
        RecordedPlan plan;
        accounts::UnfinishedPlan reached;
        bool goes_on = end < n_steps_; // what comes behind says that it is whole, or failed
        source_.for_each(first, end, [&](const Record& r) {
            if (const auto* begin = std::get_if<record::PlanBegin>(&r.fact)) {
                plan.begin = *begin;
                plan.evaluation = r.evaluation;
            } else if (const auto* reorder = std::get_if<record::Reorder>(&r.fact)) {
                plan.reorders.push_back(*reorder);
            } else if (const auto* fusion = std::get_if<record::Fusion>(&r.fact)) {
                plan.fusions.push_back(*fusion);
            } else if (const auto* pair = std::get_if<record::NotFused>(&r.fact)) {
                plan.not_fused.push_back(*pair);
            } else if (const auto* backend = std::get_if<record::PlanBackend>(&r.fact)) {
                plan.backends.push_back(*backend);
            } else if (const auto* kept = std::get_if<record::Kept>(&r.fact)) {
                plan.kept.push_back(*kept);
            } else if (const auto* verdict = std::get_if<record::Verdict>(&r.fact)) {
                plan.rules = verdict->rules;
                plan.compared = true;
            } else if (const auto* alternative = std::get_if<record::Alternative>(&r.fact)) {
                plan.alternatives.push_back(*alternative);
            } else if (const auto* pass = std::get_if<record::PassBegin>(&r.fact)) {
                plan.allocates |= pass->pass == Pass::allocate;
                goes_on |= pass->pass == Pass::execute;
                reached = {pass->pass, false};
                return pass->pass != Pass::execute;
            } else if (std::holds_alternative<record::PassEnd>(r.fact)) {
                reached.over = true;
            } else if (std::holds_alternative<record::EvaluationEnd>(r.fact)) {
                goes_on = true;
            } else if (is_decision(r.fact)) {
                const auto* plan_end = std::get_if<record::PlanEnd>(&r.fact);
                plan.planned |= plan_end != nullptr;
                goes_on |= plan_end != nullptr && plan_end->error != 0;        // it failed: there is no more to come
                plan.allocates |= plan_end != nullptr && plan_end->error != 0; // what comes now may have memory to plan
                plan.records.push_back(r);
            }
            return true;
        });
        if (!goes_on && (!plan.planned || (reached.pass == Pass::allocate && !reached.over))) {
            plan.stopped = reached;
        }
        if (plan.stopped && plan.planned) { // its memory is not whole
            const auto end_of_plan = std::find_if(plan.records.begin(), plan.records.end(), [](const Record& r) {
                return std::holds_alternative<record::PlanEnd>(r.fact);
            });
            plan.records.erase(std::next(end_of_plan), plan.records.end());
            plan.allocates = false;
        }
        return plan;
    }

    const RecordSource& source_;
    const Step n_steps_;
    Step at_;
    std::vector<RepeatedPlan> repeats_;
    size_t next_repeat_ = 0;
    std::map<EvaluationId, Step> made_at_;
};

class Replayer {
public:
    Replayer(const RecordSource& source, const ReplayOptions& options)
        : source_(source), options_(options), recorded_session_(source.session()), session_(recorded_session_) {
        if (options.expected != nullptr) {
            expected_session_ = options.expected->session();
            expected_.emplace(*options.expected);
        }
    }

    ReplayResult run() {
        if (options_.only) {
            plan_memory_before(*options_.only);
        }
        RecordedPlans plans(source_, options_.only);
        while (const std::optional<RecordedPlan> plan = plans.next()) {
            if (options_.only && plan->evaluation != *options_.only) {
                break;
            }
            if (plan->stopped) {
                result_.stopped = {plan->evaluation, *plan->stopped, plan->planned};
            }
            if (!plan->stopped || plan->planned || options_.only) {
                replay_plan(*plan);
            } else if (expected_) {
                expected_->next();
            }
        }
        if (result_.plans == 0) {
            throw Error(ErrorKind::input, (result_.stopped ? result_.stopped->told() : "the trace holds no plan") +
                                              ": nothing can be planned again");
        }
        if (expected_ && expected_->next()) {
            throw Error(ErrorKind::input, "the trace to compare with holds more plans");
        }
        tell_of_flash_elsewhere();
        const auto stays = [](const PlanComparison& c) { return !c.stays_as_recorded.empty(); };
        const std::vector<PlanComparison>& all = result_.comparisons;
        if (!all.empty() && std::all_of(all.begin(), all.end(), stays)) {
            throw Error(ErrorKind::usage, all.front().stays_as_recorded + options_.instead);
        }
        return std::move(result_);
    }

private:
    /// What is to be planned again: as it was recorded, and then changed.
    struct ReplaySubject {
        OwnedGraph graph;
        CapabilityTable answers;
        PlanOptions options;
        std::string stays_as_recorded{};
    };

    ReplaySubject subject(const RecordedPlan& recorded, GraphId id, int32_t n_tokens, bool reserve,
                          const std::vector<record::Alternative>& alternatives) {
        ReplaySubject s{OwnedGraph::copy_of(source_.graph(id).view()), source_.answers(id), {}};
        session_ = recorded_session_;
        s.answers.session = &session_;
        require_plannable(session_, s.graph, s.answers);
        s.options.op_offload = recorded.begin.op_offload.value_or(true);
        s.options.n_stages = recorded.begin.n_stages.value_or(1);
        s.options.current_stage = recorded.begin.current_stage.value_or(0);
        s.options.graph_id = id;
        s.options.session = &session_;
        if (const RulesAge* const age = rules_named(source_.text(recorded.rules))) {
            s.options.rules = age->rules;
        }
        s.options.reserve = source_.evaluation(recorded.evaluation).begin.kind == GraphKind::reserve;
        const OwnBackends own(recorded_session_, recorded.backends);
        bool renumbered = false;
        if (options_.change) {
            ReplayInput input{session_,
                              s.graph,
                              s.answers,
                              s.options.op_offload,
                              s.options.offload_min_batch,
                              s.options.n_stages,
                              s.options.current_stage,
                              n_tokens,
                              recorded.evaluation,
                              reserve,
                              alternatives,
                              recorded.backends.empty() ? no_backends_ : own.order()};
            options_.change(input);
            renumbered = input.renumbered;
            s.stays_as_recorded = std::move(input.stays_as_recorded);
        }
        if (!renumbered && !own.are_all(recorded_session_)) {
            session_ = own.session(recorded_session_);
            s.answers = own.answers(s.answers);
            s.answers.session = &session_;
            own.renumber(s.graph);
        }
        check(id, s.graph, s.answers);
        return s;
    }

    void replay_reserve(const RecordedPlan& recorded, const RecordedReserve& reserve) {
        const ReplaySubject s = subject(recorded, reserve.fact.graph, reserve.fact.n_tokens, true, reserve.alternatives);
        try {
            make_plan(s.graph.view(), s.answers, s.options, carry_, plan_, nullptr);
            const OptimisedNodes nodes = optimised(s.graph);
            planner_.place(s.graph.view(), plan_, nodes.order, s.answers, session_.buffer_types, nullptr, nodes.kept);
            if (reserve.fact.error == 0) {
                return;
            }
        } catch (const PlanError&) { // as live: then buffers grow when they must
        }
        planner_ = MemoryPlanner();
    }

    /// A plan made again, as it is now.
    struct PlannedAgain {
        ReplaySubject subject;
        Collector now;
        std::optional<OptimisedNodes> nodes; ///< none: nothing is allocated, or by another program
    };

    PlannedAgain plan_again(const RecordedPlan& recorded) {
        for (const RecordedReserve& reserve : recorded.reserves) {
            replay_reserve(recorded, reserve);
        }
        const int32_t n_tokens = source_.evaluation(recorded.evaluation).begin.n_tokens.value_or(0);
        PlannedAgain again{subject(recorded, recorded.begin.graph, n_tokens, false, recorded.alternatives), {}, {}};
        const ReplaySubject& s = again.subject;
        Collector& now = again.now;
        try {
            make_plan(s.graph.view(), s.answers, s.options, recorded.compared ? foreign_[recorded.scheduler()].carry : carry_,
                      plan_, &now);
            if (recorded.allocates && recorded.compared) {
                place_as_ggml(recorded, s, now);
            } else if (recorded.allocates) {
                if (options_.change) {
                    mark_watched(recorded, s.graph);
                }
                again.nodes = options_.change ? nodes_now(recorded, s.graph, now) : nodes_of(recorded, s.graph);
                planner_.place(s.graph.view(), plan_, again.nodes->order, s.answers, session_.buffer_types, &now,
                               again.nodes->kept);
            }
        } catch (const PlanError&) { // its sentence is in the PlanEnd
        }
        std::erase_if(now.records, [](const Record& r) { return !is_decision(r.fact); });
        return again;
    }

    void replay_plan(const RecordedPlan& recorded) {
        ++result_.plans;
        compare(recorded, plan_again(recorded));
    }

    /// The evaluations before one whose plans its buffers have their sizes from, as far as the records say: where a buffer grew
    /// last, and where memory was reserved.
    std::set<EvaluationId> sized_before(EvaluationId only) const {
        std::map<std::pair<BufferTypeId, int32_t>, EvaluationId> grew_last;
        std::set<EvaluationId> found;
        source_.for_each_of(fact_set<record::BufferSize, record::Reserve>(), 0, source_.evaluation(only).first,
                            [&](const Record& r) {
                                if (const auto* size = std::get_if<record::BufferSize>(&r.fact)) {
                                    grew_last[{size->buffer_type, size->chunk}] = r.evaluation;
                                } else {
                                    found.insert(r.evaluation);
                                }
                            });
        for (const auto& [buffer, evaluation] : grew_last) {
            found.insert(evaluation);
        }
        return found;
    }

    /// The plan that was made for this evaluation; nothing: none was, or it is not complete.
    std::optional<RecordedPlan> plan_of(EvaluationId evaluation) const {
        std::optional<RecordedPlan> recorded = RecordedPlans(source_, evaluation).next();
        return recorded && recorded->evaluation == evaluation && !recorded->stopped ? std::move(recorded) : std::nullopt;
    }

    /// Makes one more plan again for what `look` is to see of it.
    template <typename Look> void look_at(const RecordedPlan& recorded, const Look& look) {
        try {
            look(plan_again(recorded));
        } catch (const Error&) {}
    }

    void plan_memory_before(EvaluationId only) {
        for (const EvaluationId evaluation : sized_before(only)) {
            if (const std::optional<RecordedPlan> recorded = plan_of(evaluation)) {
                look_at(*recorded, [&](const PlannedAgain& again) {
                    figures_before_.of(text_of(*recorded));
                    figures_now_.of(text_of(again));
                });
            }
        }
        carry_ = Carry();
        for (auto& [scheduler, state] : foreign_) {
            state.carry = Carry();
        }
    }

    /// What was watched is watched again: by its id, in another graph than the recorded one by its name.
    void mark_watched(const RecordedPlan& recorded, const OwnedGraph& graph) {
        if (source_.count(fact_bit<record::Value>()) == 0) {
            return;
        }
        const OwnedGraph& before = source_.graph(recorded.begin.graph);
        const bool same = graph.nodes == before.nodes && graph.tensors.size() == before.tensors.size();
        const EvaluationSpan run = source_.evaluation(recorded.evaluation);
        std::set<std::string_view> names;
        source_.for_each_of(fact_bit<record::Value>(), run.first, run.end, [&](const Record& r) {
            const auto& value = std::get<record::Value>(r.fact);
            if (value.device != 0 || !is_index(value.tensor, before.tensors)) { // computed once more, to be compared
                return;
            }
            if (same) {
                plan_.flags[value.tensor] |= flag_watched;
            } else {
                names.insert(before.tensors[value.tensor].name);
            }
        });
        for (const TensorId node : graph.nodes) {
            if (names.contains(graph.tensors[node].name)) {
                plan_.flags[node] |= flag_watched;
            }
        }
    }

    /// By position, with what its backends wanted to keep; sizes are what the buffer types answered. Where something was changed,
    /// copies are others than the recorded ones of the same ids.
    void place_as_ggml(const RecordedPlan& recorded, const ReplaySubject& s, Collector& now) {
        const size_t n_known = options_.change ? source_.graph(recorded.begin.graph).tensors.size() : plan_.bytes.size();
        for (const Record& r : recorded.records) {
            if (const auto* place = std::get_if<record::Placement>(&r.fact);
                place != nullptr && std::cmp_less(place->tensor, n_known) && is_index(place->tensor, plan_.bytes) &&
                plan_.bytes[place->tensor] >= 0) {
                plan_.bytes[place->tensor] = place->size;
            }
        }
        AllocatedGraph allocated;
        const bool same = s.graph.nodes == source_.graph(recorded.begin.graph).nodes;
        about_ |= options_.change && !recorded.reorders.empty() && ranges_of(recorded.records) != ranges_of(now.records);
        copy_graph(s.graph.view(), plan_, same ? order_of(recorded, s.graph) : s.graph.nodes, allocated);
        std::vector<KeptUntil> kept;
        for (const record::Kept& k : recorded.kept) {
            if (is_index(k.tensor, plan_.bytes)) {
                keep_until(kept, k.node, k.tensor);
            }
        }
        add_kept(allocated, kept);
        foreign_[recorded.scheduler()].memory.place(s.graph.view(), plan_, allocated, s.answers, session_.buffer_types, &now);
    }

    PlanText text_of(const RecordedPlan& recorded) const {
        return {recorded_session_, source_.graph(recorded.begin.graph), recorded.records,
                [this](StringId id) { return source_.text(id); }};
    }
    /// Valid as long as what was planned again, and until the next plan.
    PlanText text_of(const PlannedAgain& again) const {
        return {session_, again.subject.graph, again.now.records, [&again](StringId id) { return again.now.texts.text(id); }};
    }

    void compare(const RecordedPlan& recorded, const PlannedAgain& again) {
        const auto& [subject, now, nodes] = again;
        const PlanText after = text_of(again);
        if (expected_) {
            const std::optional<RecordedPlan> other = expected_->next();
            if (!other) {
                throw Error(ErrorKind::input, "the trace to compare with holds fewer plans");
            }
            const PlanText wanted{expected_session_, options_.expected->graph(other->begin.graph), other->records,
                                  [this](StringId id) { return options_.expected->text(id); }};
            compare_decisions(recorded.evaluation, wanted, after, options_.max_differences, result_);
            return;
        }
        const PlanText before = text_of(recorded);
        std::map<std::string, int64_t> otherwise =
            compare_decisions(recorded.evaluation, before, after, options_.max_differences, result_);
        if (options_.change) {
            const record::EvaluationBegin& begin = source_.evaluation(recorded.evaluation).begin;
            PlanComparison& c = result_.comparisons.emplace_back();
            c.evaluation = recorded.evaluation;
            c.kind = begin.kind;
            c.n_tokens = begin.n_tokens;
            c.recorded = figures_before_.of(before);
            c.now = figures_now_.of(after);
            c.now.about = about_;
            c.added = added_devices(after.session);
            c.removed = removed_backends(after.session);
            if (nodes && (recorded_session_.knows.has(Topic::fusion) || !recorded.fusions.empty())) {
                c.recorded.fused_groups = std::ssize(recorded.fusions);
                c.now.fused_groups = nodes->n_groups;
            }
            c.changes = changes_of(before, after);
            c.otherwise = std::move(otherwise);
            c.reordered =
                nodes && before.graph.nodes == subject.graph.nodes && with_reorders(recorded, before.graph) != nodes->order;
            c.stays_as_recorded = subject.stays_as_recorded;
            c.has_older_buffers = accounts::are_older(recorded_session_, recorded.scheduler());
            if (!recorded_session_.settings) {
                c.flash_caveat = flash_caveat(c.changes, c.n_tokens, subject);
                if (!c.flash_caveat.empty()) {
                    without_flash_.try_emplace(recorded.scheduler(), recorded.evaluation);
                } else if (std::any_of(after.graph.nodes.begin(), after.graph.nodes.end(),
                                       [&after](TensorId node) { return after.graph.tensors[node].op == Op::FLASH_ATTN_EXT; })) {
                    with_flash_.emplace_back(result_.comparisons.size() - 1, recorded.scheduler());
                }
            }
        }
    }

    static bool has_backend(const SessionInfo& session, std::string_view name) {
        return std::any_of(session.backends.begin(), session.backends.end(),
                           [&](const BackendInfo& b) { return b.name == name; });
    }

    std::vector<AddedDevice> added_devices(const SessionInfo& now) const {
        std::vector<AddedDevice> added;
        for (const BackendInfo& b : now.backends) {
            if (!has_backend(recorded_session_, b.name) && b.default_buffer_type) {
                added.push_back({b.name, now.buffer_types[*b.default_buffer_type].name, b.memory_bytes.value_or(0)});
            }
        }
        return added;
    }

    std::vector<std::string> removed_backends(const SessionInfo& now) const {
        std::vector<std::string> removed;
        for (const BackendInfo& b : recorded_session_.backends) {
            if (!has_backend(now, b.name)) {
                removed.push_back(b.name);
            }
        }
        return removed;
    }

    /// Where the first weight lies that is named after the layer of a cache; empty: there is none.
    std::string home_of_layer(const OwnedGraph& graph, TensorId cache) const {
        const std::optional<int32_t> layer = layer_of_name(graph.tensors[cache].name);
        const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(), [&](const TensorInfo& t) {
            return t.usage == BufferUsage::weights && t.buffer_type != no_buffer_type && layer_of_name(t.name) == layer;
        });
        return !layer || found == graph.tensors.end() ? "" : session_.backends[home_of_memory(session_, found->buffer_type)].name;
    }

    /// llama.cpp with -fa auto looks where flash attention of its layers would run in a graph of one token, before it uses it.
    std::string flash_caveat(const std::vector<TensorChange>& changes, std::optional<int32_t> n_tokens,
                             const ReplaySubject& subject) const {
        const OwnedGraph& graph = subject.graph;
        const int64_t least = subject.options.offload_min_batch; // 0: as recorded
        if (least > 1 && n_tokens && *n_tokens >= least) {
            return ""; // what is offloaded here is not with one token
        }
        for (const TensorChange& change : changes) {
            if (!is_index(change.tensor, graph.tensors) || graph.tensors[change.tensor].op != Op::FLASH_ATTN_EXT ||
                graph.tensors[change.tensor].src[1] == no_tensor) {
                continue;
            }
            const std::string home = home_of_layer(graph, owner_of(graph, graph.tensors[change.tensor].src[1]));
            if (!home.empty() && !change.now_backend.empty() && change.now_backend != home) {
                return change.name + " would run on " + change.now_backend + ", and its layer's weights lie in " + home +
                       ": with -fa auto llama.cpp does without flash attention then, and plans other graphs than this";
            }
        }
        return "";
    }

    /// Whoever has given it up has done so in each graph.
    void tell_of_flash_elsewhere() {
        for (const auto& [index, scheduler] : with_flash_) {
            PlanComparison& c = result_.comparisons[index];
            if (!without_flash_.contains(scheduler) && options_.only) {
                look_at_one_token(scheduler);
            }
            if (const auto found = without_flash_.find(scheduler); found != without_flash_.end()) {
                c.flash_caveat = "with -fa auto llama.cpp does without flash attention then, as evaluation " +
                                 std::to_string(found->second) + " tells, and plans another graph than this";
            }
        }
    }

    /// The first graph of one token that this scheduler planned.
    void look_at_one_token(int32_t scheduler) {
        for (EvaluationId e = 0; e < source_.n_evaluations(); ++e) {
            const record::EvaluationBegin& begin = source_.evaluation(e).begin;
            if (e == options_.only || begin.n_tokens != 1) {
                continue;
            }
            const std::optional<RecordedPlan> recorded = plan_of(e);
            if (!recorded || recorded->scheduler() != scheduler) {
                continue;
            }
            look_at(*recorded, [&](const PlannedAgain& again) {
                const auto changes = changes_of(text_of(*recorded), text_of(again));
                if (!flash_caveat(changes, begin.n_tokens, again.subject).empty()) {
                    without_flash_.emplace(scheduler, e);
                }
            });
            return;
        }
    }

    /// What the planner takes for granted of those who ask it live.
    void check(GraphId id, const OwnedGraph& graph, const CapabilityTable& answers) const {
        const std::string about = "graph " + std::to_string(id) + " can't be planned again: ";
        require_plannable(session_, graph, answers); // another graph may stand in the place of the recorded one
        if (session_.backends.empty() || answers.op_answers.size() != session_.backends.size() * graph.tensors.size()) {
            throw Error(ErrorKind::input, about + "the trace holds no answers of backends about it");
        }
        for (const BackendInfo& backend : session_.backends) {
            if (!backend.default_buffer_type) {
                throw Error(ErrorKind::input, about + "the memory of " + visible_name(backend.name) + " is not recorded");
            }
        }
    }

    OptimisedNodes optimised(const OwnedGraph& graph) const {
        const bool recorded = !recorded_session_.settings || recorded_session_.settings->fusion;
        return options_.optimise && options_.fusion.value_or(recorded) ? options_.optimise(graph.view(), plan_, session_)
                                                                       : OptimisedNodes{graph.nodes, {}, 0};
    }

    OptimisedNodes nodes_now(const RecordedPlan& recorded, const OwnedGraph& graph, const Collector& now) const {
        if (options_.optimise || options_.fusion == false) {
            return optimised(graph);
        }
        const bool same =
            graph.nodes == source_.graph(recorded.begin.graph).nodes && ranges_of(recorded.records) == ranges_of(now.records);
        return same ? nodes_of(recorded, graph) : OptimisedNodes{graph.nodes, {}, {}};
    }

    /// First node and end of each split.
    static std::vector<std::optional<int32_t>> ranges_of(const std::vector<Record>& records) {
        std::vector<std::optional<int32_t>> ranges;
        for (const Record& r : records) {
            if (const auto* begin = std::get_if<record::SplitBegin>(&r.fact)) {
                ranges.push_back(begin->first_node);
            } else if (const auto* end = std::get_if<record::SplitEnd>(&r.fact)) {
                ranges.push_back(end->end_node);
            }
        }
        return ranges;
    }

    OptimisedNodes nodes_of(const RecordedPlan& recorded, const OwnedGraph& graph) const {
        OptimisedNodes nodes{order_of(recorded, graph), {}, std::ssize(recorded.fusions)};
        nodes.kept = kept_of(recorded, nodes.order);
        return nodes;
    }

    static std::vector<TensorId> with_reorders(const RecordedPlan& recorded, const OwnedGraph& graph) {
        std::vector<TensorId> order = graph.nodes;
        for (const record::Reorder& r : recorded.reorders) {
            if (is_index(r.to, order)) {
                order[r.to] = r.node;
            }
        }
        return order;
    }

    std::vector<TensorId> order_of(const RecordedPlan& recorded, const OwnedGraph& graph) const {
        std::vector<TensorId> order = with_reorders(recorded, graph);
        std::vector<TensorId> a = order, b = graph.nodes;
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        if (a != b) {
            throw Error(ErrorKind::input, "evaluation " + std::to_string(recorded.evaluation) +
                                              ": its recorded order of nodes lacks some and has others twice");
        }
        return order;
    }

    std::vector<KeptRange> kept_of(const RecordedPlan& recorded, std::span<const TensorId> order) const {
        const auto n = n_of(order);
        std::vector<int32_t> position(plan_.assignments.size(), -1);
        for (int32_t i = 0; i < n; ++i) {
            position[order[i]] = i;
        }
        const auto place = [&](TensorId id) { return is_index(id, position) ? position[id] : -1; };
        std::vector<KeptRange> kept;
        const auto keep = [&](int32_t first, int32_t end) {
            if (first >= 0 && first < end && end <= n) {
                kept.push_back({first, end});
            }
        };
        for (const record::Fusion& f : recorded.fusions) {
            keep(f.first, f.first + f.count);
        }
        for (const record::NotFused& pair : recorded.not_fused) {
            if (source_.text(pair.why) == batch_too_large) {
                keep(place(pair.first), place(pair.second) + 1);
            }
        }
        order_kept(kept, 0);
        return kept;
    }

    const RecordSource& source_;
    const ReplayOptions& options_;
    const SessionInfo recorded_session_;
    SessionInfo session_; ///< the one planned with
    Carry carry_;
    Plan plan_;
    MemoryPlanner planner_;
    struct ForeignState {
        Carry carry;
        MemoryPlanner memory;
    };
    std::map<int32_t, ForeignState> foreign_; ///< by scheduler of another program
    /// Of another program: the first evaluation that tells of a scheduler that its flash attention would be given up; and the
    /// comparisons with flash attention that do not tell it themselves, each with its scheduler.
    std::map<int32_t, EvaluationId> without_flash_;
    std::vector<std::pair<size_t, int32_t>> with_flash_;
    bool about_ = false; ///< of memory that was planned for it so far, some in an order that is not known
    const std::vector<BackendId> no_backends_;
    SessionInfo expected_session_;
    std::optional<RecordedPlans> expected_;
    FigureCounter figures_before_, figures_now_;
    ReplayResult result_;
};

} // namespace

std::string ReplayResult::Stopped::told() const {
    return "evaluation " + std::to_string(evaluation) + (planned ? "'s memory" : "") + " is left out: " + plan.told();
}

std::string text_of(const ReplayResult& result) {
    return words::counted(result.plans, "plan") + " made again: " + words::count(result.identical) + " of " +
           words::count(result.compared) + " decisions identical, counted pass by pass";
}

ReplayResult replay(const RecordSource& source, const ReplayOptions& options) { return Replayer(source, options).run(); }

} // namespace schedscope
