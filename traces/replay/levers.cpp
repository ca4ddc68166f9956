#include "traces/replay/levers.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/system/joined.h"
#include "traces/format/schedscope_stream.h"
#include "traces/history/find_tensor.h"
#include "traces/history/words/layer_in_name.h"
#include "traces/history/words/part_by_name.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "traces/replay/foreign/llama_age.h"
#include "traces/replay/foreign/named_parts.h"
#include "traces/replay/profile/recorded_profile.h"
#include "traces/replay/rehome.h"
#include "traces/replay/what_if.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace schedscope {

namespace {

/// Settings, and what else is done to a plan, tried as one.
struct Attempt {
    std::vector<std::string> settings;
    std::string words;
    std::function<void(ReplayInput&)> then; ///< behind the settings; empty: nothing else

    Attempt with(const Attempt& other) const {
        Attempt both = *this;
        both.settings.insert(both.settings.end(), other.settings.begin(), other.settings.end());
        if (both.words.empty() || other.words.empty()) {
            both.words += other.words;
        } else {
            both.words += (words::lacks_option(other.words) ? " and " : " together ") + words::with_options(other.words);
        }
        return both;
    }
};

/// Layers that devices hold, in their order, and one of them.
struct SharedLayers {
    std::vector<int32_t> counts; ///< for each device
    int32_t layer = 0;           ///< counted from the first that a device holds
    int32_t holder = -1;         ///< of it

    /// The same as shares, "20,13": layer i of n goes to the first device whose cumulated share exceeds i/n.
    std::string text() const {
        return joined(counts, ",", [](int32_t n) { return std::to_string(n); });
    }

    /// What changes least and gives the layer to another device: those between the two have none then.
    SharedLayers given_to(int32_t other) const {
        SharedLayers given = *this;
        const auto before = [&](int32_t device) { return std::accumulate(counts.begin(), counts.begin() + device, 0); };
        const auto [first, last] = std::minmax(holder, other);
        const int32_t begin = before(first), end = before(last + 1), cut = layer + (other < holder ? 1 : 0);
        std::fill(given.counts.begin() + first, given.counts.begin() + last + 1, 0);
        given.counts[first] = cut - begin;
        given.counts[last] = end - cut;
        given.holder = other;
        return given;
    }
};

class LeverSearch {
public:
    LeverSearch(const RecordSource& source, EvaluationId evaluation, TensorId tensor)
        : source_(source), evaluation_(evaluation), tensor_(tensor), session_(source.session()) {}

    FoundLevers run() {
        FoundLevers all;
        all.why_none = find_graph();
        all.tried = is_plannable_;
        if (!all.why_none.empty()) {
            return all;
        }
        if (is_partial_) {
            goes_on_ = planned_with(as_recorded()).changes;
            std::erase_if(goes_on_, [](const TensorChange& change) { return change.tensor == no_tensor; });
            const auto at = std::find_if(goes_on_.begin(), goes_on_.end(), [this](const auto& c) { return c.tensor == tensor_; });
            all.goes_to = at == goes_on_.end() ? "" : at->now_backend;
        }
        try_each({});
        const bool in_pairs = levers_.empty();
        if (in_pairs) {
            try_pairs();
        }
        const auto moves_less = [](const Lever& a, const Lever& b) { return a.n_moved < b.n_moved; };
        std::stable_sort(levers_.begin(), levers_.end(), moves_less);
        if (in_pairs) {
            levers_.resize(std::min(levers_.size(), most_pairs));
        }
        all.found = std::move(levers_);
        all.why_none = all.found.empty() ? why_none() : "";
        return all;
    }

private:
    static constexpr size_t most_pairs = 3; ///< that are told
    static constexpr int most_plans = 400;  ///< some seconds, of a model of 80 layers

    /// Why nothing can be tried; empty: it can.
    std::string find_graph() {
        const Step at = source_.next_of(source_.evaluation(evaluation_).first - 1, fact_bit<record::PlanBegin>());
        std::vector<Record> begin;
        if (at == no_step || (source_.read(at, at + 1, begin), begin.front().evaluation != evaluation_)) {
            is_plannable_ = false;
            return "the evaluation was not planned";
        }
        const Step end = source_.next_of(at, fact_bit<record::PlanEnd>());
        is_partial_ = end == no_step || end >= source_.evaluation(evaluation_).end;
        const GraphId graph = std::get<record::PlanBegin>(begin.front().fact).graph;
        graph_ = &source_.graph(graph);
        if (!is_index(tensor_, graph_->tensors)) {
            return "a copy lies where the split runs that reads it";
        }
        answers_ = &source_.answers(graph);
        try {
            require_plannable(session_, *graph_, *answers_);
        } catch (const Error& error) {
            is_plannable_ = false;
            return error.what();
        }
        if (session_.backends.size() < 2) {
            const std::string idle = session_fact(session_, SSCP_FACT_IDLE_LIBRARIES);
            return "there is no device but the CPU" + (idle.empty() ? "" : ": " + idle);
        }
        if (!session_.settings) {
            profiles_ = recorded_profiles(source_);
        }
        find_placement();
        return "";
    }

    /// What -ngl and -ot say; of another program, if its plan is answered by them.
    void find_placement() {
        if (session_.settings) {
            placed_ = AskedPlacement{session_.settings->placement, session_.settings->n_layers};
            return;
        }
        named_ = OwnedGraph::copy_of(graph_->view());
        name_parts(*named_);
        if (const std::optional<PlacementOptions> asked = asked_placement(*named_, session_)) {
            try {
                planned_with({{"ngl=" + std::to_string(asked->n_gpu_layers)}, "", {}});
                placed_ = AskedPlacement{*asked, n_named_blocks(*graph_)};
            } catch (const Error&) { // it lies otherwise
            }
        }
    }

    PlanComparison planned_with(const Attempt& attempt) const {
        WhatIf what_if;
        what_if.recorded = profiles_;
        for (const std::string& setting : attempt.settings) {
            what_if.set(setting);
        }
        ReplayOptions options = attempt.settings.empty() ? ReplayOptions() : options_for(what_if, source_);
        if (attempt.then) {
            options.change = [first = options.change, &attempt](ReplayInput& in) {
                if (first) {
                    first(in);
                }
                attempt.then(in);
            };
        }
        options.only = evaluation_;
        options.max_differences = 0;
        return replay(source_, options).comparisons.front();
    }

    static Attempt as_recorded() {
        return {{}, "", [](ReplayInput&) {}};
    }

    /// Which backend a tensor comes to with a change, and without one; empty: it is not there.
    struct Moved {
        TensorId tensor = no_tensor;
        std::string with, without;
    };
    /// Those that come to another. Of a plan that is recorded in part, changes say where tensors come to beside where they were
    /// so far: what they come to without one is known by the plan made again.
    std::vector<Moved> moved_by(const PlanComparison& plan) const {
        std::vector<Moved> moved;
        if (!is_partial_) {
            for (const TensorChange& change : plan.changes) {
                moved.push_back({change.tensor, change.now_backend, change.recorded_backend});
            }
        } else {
            std::map<TensorId, Moved> each;
            for (const TensorChange& change : goes_on_) {
                each[change.tensor] = {change.tensor, change.recorded_backend, change.now_backend};
            }
            for (const TensorChange& change : plan.changes) {
                if (change.tensor != no_tensor) {
                    each.try_emplace(change.tensor, Moved{change.tensor, "", change.recorded_backend}).first->second.with =
                        change.now_backend;
                }
            }
            for (auto& [tensor, change] : each) {
                moved.push_back(std::move(change));
            }
        }
        std::erase_if(moved, [](const Moved& m) { return m.with.empty() || m.with == m.without; });
        return moved;
    }

    /// A weight that two parts of a model share is a tensor for each memory that it lies in. The other one, where the plan has
    /// no longer both.
    TensorId merged_with(const PlanComparison& plan) const {
        const auto& tensors = graph_->tensors;
        const bool gone = std::any_of(plan.changes.begin(), plan.changes.end(), [this](const TensorChange& change) {
            return change.tensor == tensor_ && change.now_backend.empty();
        });
        for (TensorId id = 0; gone && tensors[tensor_].usage == BufferUsage::weights && id < n_of(tensors); ++id) {
            if (id != tensor_ && tensors[id].usage == BufferUsage::weights && tensors[id].name == tensors[tensor_].name) {
                return id;
            }
        }
        return no_tensor;
    }

    /// Where a weight lies in a plan.
    std::string holder_of(TensorId weight, const PlanComparison& plan) const {
        const auto change = std::find_if(plan.changes.begin(), plan.changes.end(),
                                         [weight](const TensorChange& c) { return c.tensor == weight; });
        return change != plan.changes.end() ? change->now_backend : recorded_holder_of(weight);
    }

    std::string recorded_holder_of(TensorId weight) const {
        const auto holder = std::find_if(session_.backends.begin(), session_.backends.end(), [&](const BackendInfo& backend) {
            return backend.default_buffer_type == graph_->tensors[weight].buffer_type;
        });
        return holder == session_.backends.end() ? "" : std::string(holder->name);
    }

    /// Where the tensor is with a change, and how many are elsewhere; none: where it was, or the change can't be tried on this
    /// trace.
    std::optional<Lever> outcome(const Attempt& attempt) {
        if (++n_plans_ > most_plans) {
            return std::nullopt;
        }
        try {
            const PlanComparison plan = planned_with(attempt);
            Lever lever{attempt.settings, attempt.words, "", 0, memory_fits(plan, session_)};
            for (const Moved& moved : moved_by(plan)) {
                ++lever.n_moved;
                if (moved.tensor == tensor_) {
                    lever.backend = moved.with;
                    recorded_backend_ = moved.without;
                }
            }
            if (const TensorId twin = merged_with(plan); twin != no_tensor) {
                const std::string holder = holder_of(twin, plan);
                lever.backend = holder == recorded_holder_of(tensor_) ? "" : holder; // else the twin came to it
                ++lever.n_moved;
                lever.words += " (then it is one with the other tensor of this name)";
            }
            if (attempt.then) {
                lever.settings.clear(); // they alone don't do it
            }
            lever.words += plan.flash_caveat.empty() ? "" : " (with -fa on: auto leaves flash attention out then)";
            return lever.backend.empty() ? std::nullopt : std::optional(std::move(lever));
        } catch (const Error&) { // as the graph with flash attention that was not kept
            return std::nullopt;
        }
    }
    bool add(const Attempt& attempt) {
        std::optional<Lever> lever = outcome(attempt);
        if (lever) {
            levers_.push_back(std::move(*lever));
        }
        return lever.has_value();
    }

    /// Each kind of change, beside those of `base`.
    void try_each(const Attempt& base) {
        if (placed_) {
            try_layers(base);
            try_shares(base);
            try_weights(base);
        } else {
            try_memory(base);
            try_block(base);
        }
        if (!session_.settings) {
            try_pin(base);
        }
        if (base.settings.empty()) {
            for (const Attempt& toggle : toggles()) {
                add(toggle);
            }
        }
        try_offload(base);
    }

    /// A change beside each of the settings that are on or off, and two of those.
    void try_pairs() {
        const std::vector<Attempt> all = toggles();
        for (size_t i = 0; i < all.size(); ++i) {
            try_each(all[i]);
            for (size_t k = i + 1; k < all.size(); ++k) {
                add(all[k].with(all[i]));
            }
        }
    }

    /// What is on or off, the other way.
    std::vector<Attempt> toggles() const {
        std::vector<Attempt> all;
        const bool offload = !session_.settings || session_.settings->op_offload;
        all.push_back(offload ? Attempt{{"op-offload=off"}, "--no-op-offload", {}}
                              : Attempt{{"op-offload=on"}, "no --no-op-offload", {}});
        if (placed_) {
            all.push_back(placed_->options.cache_on_host ? Attempt{{"nkvo=off"}, "no -nkvo", {}}
                                                         : Attempt{{"nkvo=on"}, "-nkvo", {}});
        }
        if (session_.settings) {
            if (const auto flash = session_.settings->flash_attention) {
                all.push_back(*flash ? Attempt{{"fa=off"}, "-fa off", {}} : Attempt{{"fa=on"}, "-fa on", {}});
            }
        }
        return all;
    }

    /// Towards all or none, if that does it: the nearest numbers of layers with which the tensor is on another device, each
    /// tried.
    void try_layers(const Attempt& base) {
        const int32_t all = placed_->n_layers + 1, now = std::clamp(placed_->options.n_gpu_layers, 0, all);
        const auto with = [&](int32_t n) {
            const std::string number = std::to_string(n);
            return Attempt{{"ngl=" + number}, "-ngl " + number, {}}.with(base);
        };
        for (const int32_t end : {all, 0}) {
            if (end == now || !outcome(with(end))) {
                continue;
            }
            const int32_t step = end > now ? 1 : -1;
            std::optional<Lever> lever; // of the range that goes on
            int32_t first = 0;
            std::string too_much; // where it fits with the first of them, and with a further one no more
            std::vector<std::string> backends;
            for (int32_t n = now + step; n != end + 2 * step; n += step) {
                std::optional<Lever> next = n == end + step ? std::nullopt : outcome(with(n));
                if (lever && next && next->backend == lever->backend) {
                    if (too_much.empty() && lever->misfit().empty() && !next->misfit().empty()) {
                        too_much = joined(
                            {" (with -ngl ", std::to_string(n), step > 0 ? " or more it " : " or less it ", next->misfit(), ")"});
                    }
                    continue;
                }
                if (lever && std::find(backends.begin(), backends.end(), lever->backend) == backends.end()) {
                    backends.push_back(lever->backend);
                    lever->words = Attempt{{}, layers_in_words(first, n - step, end) + too_much, {}}.with(base).words;
                    levers_.push_back(std::move(*lever));
                }
                lever = std::move(next);
                first = n;
                too_much.clear();
            }
            return;
        }
    }

    /// "-ngl 5 or more", "-ngl 21 to 41"; of another program, of which it is not known what it was given, with what it comes to:
    /// "-ngl 5 or more (3 now: block 0 of 5 is not offloaded)".
    std::string layers_in_words(int32_t first, int32_t last, int32_t end) const {
        const auto [least, most] = std::minmax(first, last);
        return "-ngl " +
               (last == end     ? std::to_string(first) + (end > 0     ? " or more"
                                                           : first > 0 ? " or less"
                                                                       : "")
                : first == last ? std::to_string(first)
                                : std::to_string(least) + " to " + std::to_string(most)) +
               (session_.settings ? "" : " (" + gpu_layers_text(placed_->options.n_gpu_layers) + " now" + home_now() + ")");
    }

    /// Of another program's plan: ": block 0 of 5 is not offloaded"; "" for what is of no block, and where the block lies
    /// elsewhere than the tensor: then that is not the reason.
    std::string home_now() const {
        const int32_t layer = layer_of_tensor();
        if (layer < 0) {
            return "";
        }
        const PlacementPolicy policy = policy_now();
        if (session_.backends[policy.layer_home(layer)].name != recorded_backend_) {
            return "";
        }
        const std::string where(policy.where_is_layer(layer));
        return where.empty() ? "" : ": " + where;
    }

    /// That the tensor, or a weight that it reads, is of; -1: none.
    int32_t layer_of_tensor() const {
        const OwnedGraph& graph = named_ ? *named_ : *graph_;
        int32_t layer = graph.tensors[owner_of(graph, tensor_)].layer;
        for (const TensorId weight : weights()) {
            layer = graph.tensors[weight].layer >= 0 ? graph.tensors[weight].layer : layer;
        }
        return layer;
    }

    PlacementPolicy policy_now() const { return {placed_->options, devices(), placed_->n_layers}; }

    std::vector<PlacedDevice> devices() const {
        std::vector<BackendId> all(session_.backends.size());
        std::iota(all.begin(), all.end(), BackendId{0});
        return placed_devices(session_, all);
    }

    /// The devices that hold layers, by priority.
    std::vector<BackendId> holders() const {
        std::vector<BackendId> found;
        const std::vector<PlacedDevice> all = devices();
        for (BackendId b = 0; b < n_of(all); ++b) {
            if (holds_layers(all[b].kind)) {
                found.push_back(b);
            }
        }
        return found;
    }

    /// Among several devices the tensor's layer is on one by their shares: for each other, the nearest shares that give it the
    /// layer.
    void try_shares(const Attempt& base) {
        const std::vector<BackendId> those = holders();
        const int32_t layer = layer_of_tensor();
        if (those.size() < 2 || layer < 0) {
            return;
        }
        const PlacementPolicy policy = policy_now();
        SharedLayers now;
        now.counts.resize(those.size());
        for (int32_t l = 0; l <= placed_->n_layers; ++l) {
            const auto at = std::find(those.begin(), those.end(), policy.layer_home(l));
            if (at == those.end()) {
                continue; // -ngl decides about it
            }
            const auto holder = int_of(at - those.begin());
            now.layer += l < layer ? 1 : 0;
            now.holder = l == layer ? holder : now.holder;
            ++now.counts[holder];
        }
        for (int32_t other = 0; other < n_of(those); ++other) {
            if (now.holder >= 0 && other != now.holder) {
                const std::string shares = now.given_to(other).text();
                add(Attempt{{"ts=" + shares}, "-ts " + shares + " (" + now.text() + " now)", {}}.with(base));
            }
        }
    }

    /// Of the tensor itself, or that it reads.
    std::vector<TensorId> weights() const {
        std::vector<TensorId> found;
        const TensorInfo& t = graph_->tensors[tensor_];
        const auto add_weight = [&](TensorId id) {
            if (id != no_tensor && graph_->tensors[id].usage == BufferUsage::weights) {
                found.push_back(id);
            }
        };
        add_weight(tensor_);
        for (const TensorId source : t.src) {
            add_weight(source);
        }
        return found;
    }

    static std::string exactly(std::string_view name) {
        std::string pattern;
        for (const char c : name) {
            pattern += c == '.' ? "\\." : std::string(1, c);
        }
        return pattern;
    }

    /// One pattern more, in front of those that were there: the first that matches decides.
    void try_weights(const Attempt& base) {
        for (const TensorId weight : weights()) {
            for (const BackendInfo& backend : session_.backends) {
                const std::string text = exactly(graph_->tensors[weight].name) + "=" + backend.device;
                Attempt attempt{{"ot=" + text}, "-ot '" + text + "'", {}};
                for (const TensorOverride& recorded : placed_->options.overrides) {
                    attempt.settings.push_back("ot=" + recorded.text());
                }
                if (add(attempt.with(base))) {
                    return;
                }
            }
        }
    }

    /// Where it is not known by which setting a weight got where it lies: what follows if it lies elsewhere.
    void try_memory(const Attempt& base) {
        for (const TensorId weight : weights()) {
            const bool moved = try_in_each_memory(base, graph_->tensors[weight], graph_->tensors[weight].name,
                                                  [weight](TensorId id) { return id == weight; });
            if (moved) {
                return;
            }
        }
    }

    /// The same of all weights and caches of the block (foreign/named_parts.h) that the tensor, or what it reads, is of.
    void try_block(const Attempt& base) {
        const TensorInfo& cache = graph_->tensors[owner_of(*graph_, tensor_)];
        std::optional<int32_t> block = role_of(cache) == Role::cache ? layer_of_name(cache.name) : std::nullopt;
        for (const TensorId weight : weights()) {
            block = block ? block : layer_of_name(graph_->tensors[weight].name);
        }
        const auto is_of_block = [&, block](TensorId id) {
            const TensorInfo& owner = graph_->tensors[owner_of(*graph_, id)];
            const bool lies = owner.usage == BufferUsage::weights || role_of(owner) == Role::cache;
            return lies && layer_of_name(owner.name) == block;
        };
        for (TensorId id = 0; block && id < n_of(graph_->tensors); ++id) {
            if (const TensorInfo& t = graph_->tensors[id]; is_of_block(id) && t.buffer_type != no_buffer_type) {
                try_in_each_memory(base, t, "all of block " + std::to_string(*block), is_of_block);
                return;
            }
        }
    }

    /// What lies in the same memory as `now`, in each other. True: a memory does it.
    bool try_in_each_memory(const Attempt& base, const TensorInfo& now, std::string_view what,
                            const std::function<bool(TensorId)>& moves) {
        return std::any_of(session_.backends.begin(), session_.backends.end(), [&](const BackendInfo& backend) {
            const std::optional<BufferTypeId> memory = backend.default_buffer_type;
            if (!memory || *memory == now.buffer_type) {
                return false;
            }
            const auto move = [this, moves, to = *memory](ReplayInput& in) {
                for (TensorId id = 0; id < n_of(graph_->tensors); ++id) {
                    if (in.graph.tensors[id].buffer_type != no_buffer_type && moves(id)) {
                        in.graph.tensors[id].buffer_type = to;
                    }
                }
            };
            return add(
                Attempt{{}, std::string(what) + " in " + std::string(session_.buffer_types[*memory].name) + " memory", move}.with(
                    base));
        });
    }

    void try_pin(const Attempt& base) {
        if (graph_->tensors[tensor_].user_backend != no_backend) {
            add(Attempt{
                {}, "no pin of the program's (llama.cpp pins norms to their layer's device)", [this](ReplayInput& in) {
                    in.graph.tensors[tensor_].user_backend = no_backend;
                }}.with(base));
        }
    }

    /// The least change of the batch from which on work is taken over: to one that what reads a weight on the host has, or to
    /// one more.
    void try_offload(const Attempt& base) {
        const int64_t now = offload_min_batch(session_);
        if (!session_.settings && !llama_age_of(session_).reads_min_batch) {
            return; // nothing changes it there
        }
        std::set<std::pair<int64_t, int64_t>> batches; // with how far each is from the one now
        for (const TensorId id : graph_->nodes) {
            const TensorInfo& node = graph_->tensors[id];
            const int64_t batch = node.op && node.ne ? offload_batch(*node.op, *node.ne) : 0;
            if (batch > 0 && OpQuestion::about(graph_->view(), id, session_.buffer_types).reads_host_weight) {
                const int64_t crossing = batch >= now ? batch + 1 : batch;
                for (const int64_t n : {batch, batch + 1}) {
                    if (n == crossing || !session_.settings) { // another program's own threshold is known by its variable alone
                        batches.emplace(std::abs(n - now), n);
                    }
                }
            }
        }
        const std::string option = session_.settings ? "--offload-min-batch " : SSCP_FACT_OFFLOAD_MIN_BATCH "=";
        for (const auto& [change, batch] : batches) {
            const std::string n = std::to_string(batch);
            if (add(Attempt{{"offload-min-batch=" + n}, option + n, {}}.with(base))) {
                return;
            }
        }
    }

    std::string why_none() const {
        const TensorInfo& t = graph_->tensors[tensor_];
        if ((t.flags & flag_input) != 0) {
            return "inputs of the graph lie on the CPU";
        }
        if (t.op && *t.op != Op::NONE) {
            std::string refusals;
            int n_can = 0;
            for (BackendId b = 0; b < n_of(session_.backends); ++b) {
                const Answer answer = answers_->has(b, tensor_) ? answers_->op_answer(b, tensor_) : Answer::no(Refusal::op, "");
                n_can += answer.yes ? 1 : 0;
                if (!answer.yes) {
                    const std::string why = words::refusal(answer.reason, answer.detail, ", ");
                    refusals += (refusals.empty() ? "" : "; ") + std::string(session_.backends[b].name) + " does not run it" +
                                (why.empty() ? "" : ": " + why);
                }
            }
            if (n_can < 2) {
                return refusals;
            }
        }
        const std::string shares = holders().size() > 1 ? "-ts, " : "";
        return session_.settings ? "none of -ngl, " + shares + "-ot, -nkvo, -fa and offload moves it, nor two of them together"
               : placed_         ? "none of -ngl, " + shares + "-ot, -nkvo and offload moves it, nor two of them together"
                                 : "neither where its weight or cache lies nor offload moves it, nor both together";
    }

    const RecordSource& source_;
    const EvaluationId evaluation_;
    const TensorId tensor_;
    const SessionInfo session_;
    std::vector<std::shared_ptr<const DeviceProfile>> profiles_; ///< of another program's backends
    const OwnedGraph* graph_ = nullptr;
    const CapabilityTable* answers_ = nullptr;
    struct AskedPlacement {
        PlacementOptions options;
        int32_t n_layers;
    };
    std::optional<OwnedGraph> named_;      ///< of another program: with the parts that its names say
    std::optional<AskedPlacement> placed_; ///< nothing: it is not known
    bool is_plannable_ = true;
    int n_plans_ = 0;
    std::vector<Lever> levers_;
    bool is_partial_ = false;           ///< the plan: the recording stopped in it, or goes on
    std::vector<TensorChange> goes_on_; ///< of a partial plan: what it comes to beside what is recorded of it
    std::string recorded_backend_;      ///< where the tensor is, once a change moved it
};

} // namespace

FoundLevers levers_of(const RecordSource& source, EvaluationId evaluation, TensorId tensor) {
    return LeverSearch(source, evaluation, tensor).run();
}

std::string Lever::misfit() const {
    std::string all;
    for (const MemoryFit& fit : memory) {
        const std::string misfit = fit.misfit();
        all += (all.empty() || misfit.empty() ? "" : "; ") + misfit;
    }
    return all;
}

std::vector<std::string> levers_in_words(const FoundLevers& levers) {
    std::vector<std::string> lines, backends;
    const std::string so_far = levers.goes_to.empty() ? "" : "the plan is not complete here: it goes on to " + levers.goes_to;
    for (const Lever& lever : levers.found) {
        const std::string misfit = lever.misfit(), changed = lever.words + (misfit.empty() ? "" : " (" + misfit + ")");
        const auto known = std::find(backends.begin(), backends.end(), lever.backend);
        if (known == backends.end()) {
            backends.push_back(lever.backend);
            lines.push_back("on " + lever.backend + " " + words::with_options(changed));
        } else {
            lines[static_cast<size_t>(known - backends.begin())] +=
                ", or " + (words::lacks_option(changed) ? words::with_options(changed) : changed);
        }
    }
    if (lines.empty()) {
        lines.push_back((levers.tried ? "no setting: " : "not known: ") + levers.why_none);
    }
    if (!so_far.empty()) {
        lines.insert(lines.begin(), so_far);
    }
    return lines;
}

} // namespace schedscope
