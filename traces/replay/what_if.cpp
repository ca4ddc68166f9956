#include "traces/replay/what_if.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"
#include "runtime/system/read_number.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/foreign/llama_age.h"
#include "traces/replay/foreign/named_parts.h"
#include "traces/replay/profile/recorded_profile.h"
#include "traces/replay/rehome.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <memory>

namespace schedscope {

namespace {

[[noreturn]] void refuse(std::string_view setting, const std::string& why) {
    throw Error(ErrorKind::usage, std::string(setting) + ": " + why);
}

int64_t number(std::string_view setting, std::string_view value, int64_t least, int64_t most) {
    const std::optional<int64_t> n = read_number<int64_t>(value);
    if (!n || *n < least || *n > most) {
        refuse(setting, "a number from " + std::to_string(least) + " to " + std::to_string(most) + " is wanted");
    }
    return *n;
}

bool on_or_off(std::string_view setting, std::string_view value) {
    if (value != "on" && value != "off") {
        refuse(setting, "on or off is wanted");
    }
    return value == "on";
}

/// As lists show it: of the catalogue, one of UNARY or GLU, or the recorded program's own.
std::vector<std::string_view> operators_of(const SessionInfo& session) {
    std::vector<std::string_view> names = operation_names();
    names.insert(names.begin(), session.own_operators.begin(), session.own_operators.end());
    return names;
}

/// Pieces with commas between them. wanted: what each of them is.
std::vector<std::string_view> pieces(std::string_view setting, std::string_view value, const char* wanted) {
    std::vector<std::string_view> list;
    for (size_t at = 0; at <= value.size();) {
        const size_t comma = std::min(value.find(',', at), value.size());
        if (comma == at) {
            refuse(setting, std::string(wanted) + " with commas between them are wanted");
        }
        list.push_back(value.substr(at, comma - at));
        at = comma + 1;
    }
    return list;
}

std::string names_of(const SessionInfo& session) {
    return joined(session.backends, ", ", [](const BackendInfo& b) { return visible_name(b.name); });
}

std::string device_meant(const SessionInfo& session, std::string_view name) {
    std::vector<std::string_view> names;
    std::transform(session.backends.begin(), session.backends.end(), std::back_inserter(names),
                   [](const BackendInfo& b) { return std::string_view(b.name); });
    return did_you_mean(names, name);
}

/// Applies the changes to plan after plan.
class WhatIfChange {
public:
    WhatIfChange(const WhatIf& what_if, const RecordSource& source)
        : what_if_(what_if), source_(source), recorded_(source.session()) {
        describe_devices();
        for (const WhatIf::RefusedOp& r : what_if.refusals) {
            const std::string setting = "refuse=" + r.device + ":" + r.op;
            backend_named(setting, r.device);
            const std::vector<std::string_view> operators = operators_of(recorded_);
            if (std::find(operators.begin(), operators.end(), r.op) == operators.end()) {
                refuse(setting, "there is no operator '" + r.op + "'" + did_you_mean(operators, r.op));
            }
        }
        make_order();
        make_policy();
        if (recorded_.settings && policy_ && policy_->repacks()) {
            add_laid_out_memory();
        }
        if (!recorded_.settings && changes_devices()) {
            add_plain_host_memory();
            profiles_ = what_if.recorded.empty() ? recorded_profiles(source) : what_if.recorded;
            for (const DescribedBackend& d : described_) { // which answers itself
                if (is_index(d.backend, profiles_)) {
                    profiles_[d.backend] = nullptr;
                }
            }
        }
    }

    void operator()(ReplayInput& in) {
        if (changes_devices() && !recorded_.settings) {
            policy_ = policy_by_names(in);
            if (!policy_ && !placement_setting().empty() && n_named_blocks(in.graph) > 0) {
                in.stays_as_recorded =
                    placement_setting() +
                    ": weights, caches and pinned nodes do not lie as -ngl and -nkvo alone put them on one device";
                return;
            }
        }
        change_answers(in.graph, in.answers);
        use_graph(in);
        in.session.buffer_types = recorded_.buffer_types;
        if (changes_devices()) {
            const std::vector<bool> asked = who_was_asked(in.graph);
            const std::vector<BackendId> order = order_of(in);
            const bool by_memory = host_answers_by_memory(in);
            if (by_memory) {
                answer_host_by_memory(in, false);
            }
            rehome(in, recorded_, order, policy_ ? &*policy_ : nullptr);
            if (by_memory) {
                answer_host_by_memory(in, true);
            }
            infer_take_overs(in, order, asked);
        }
        for (BackendId b = 0; b < n_of(in.session.backends); ++b) {
            const BackendInfo& backend = in.session.backends[b];
            if (what_if_.offload_min_batch && holds_layers(backend.kind.value_or(""))) {
                for (TensorId t = 0; t < n_of(in.graph.tensors) && in.answers.has(b, t); ++t) {
                    const int64_t batch =
                        offload_batch(in.graph.tensors[t].op.value_or(Op::NONE), in.graph.tensors[t].ne.value_or(Shape{}));
                    in.answers.set_offload(b, t, batch > 0 && batch >= *what_if_.offload_min_batch);
                }
            }
        }
        in.op_offload = what_if_.op_offload.value_or(in.op_offload);
        in.offload_min_batch = what_if_.offload_min_batch.value_or(in.offload_min_batch);
        if (what_if_.stages) {
            in.n_stages = *what_if_.stages;
            in.current_stage = n_plans_ % in.n_stages; // a scheduler's plans go round robin
        }
        n_plans_ += in.reserve ? 0 : 1;
    }

    std::vector<std::pair<std::string, std::shared_ptr<const DeviceProfile>>> profiles() const {
        std::vector<std::pair<std::string, std::shared_ptr<const DeviceProfile>>> all;
        for (const DescribedBackend& d : described_) {
            if (d.is_recorded) {
                all.emplace_back(recorded_.backends[d.backend].name, d.profile);
            }
        }
        for (size_t b = 0; b < profiles_.size(); ++b) {
            if (profiles_[b]) {
                all.emplace_back(recorded_.backends[b].name, profiles_[b]);
            }
        }
        return all;
    }

    /// Where it is not known where the model's tensors were asked to be.
    static std::string what_can_be_set() {
        std::vector<std::string_view> names;
        for (const WhatIfSetting& setting : what_if_settings()) {
            if (setting.of_any) {
                names.push_back(setting.name);
            }
        }
        return "; what can be set: " + joined(names, ", ");
    }

private:
    /// A backend whose answers are a profile's: a recorded one, or one behind those.
    struct DescribedBackend {
        BackendId backend;
        std::shared_ptr<const DeviceProfile> profile;
        bool is_recorded; ///< else all is known of it
    };

    void describe_devices() {
        n_recorded_ = n_of(recorded_.backends);
        for (std::string& name : what_if_.device_order) {
            if (is_description(name) && n_recorded_ > 0) {
                const DeviceDescription d = parse_device_description(name, "device-order=");
                if (d.trace.empty() && !what_if_.profiles) {
                    refuse("device-order=" + name, "only devices of traces can be described here: NAME=from:TRACE/DEVICE");
                }
                describe(d, d.trace.empty() ? what_if_.profiles(d) : read_profile(d, "device-order="));
                name = d.name;
            }
        }
    }

    void describe(const DeviceDescription& d, std::shared_ptr<const DeviceProfile> profile) {
        std::vector<BackendInfo>& backends = recorded_.backends;
        const auto same = [&](const BackendInfo& b) { return same_ignoring_case(b.name, d.name); };
        const auto at = std::find_if(backends.begin(), backends.end(), same);
        const auto id = narrow<BackendId>(at - backends.begin());
        const auto twice = [&](const DescribedBackend& other) { return other.backend == id; };
        if (std::any_of(described_.begin(), described_.end(), twice)) {
            refuse("device-order=" + d.text, "'" + d.name + "' was described before");
        }
        if (at == backends.end()) {
            BackendInfo& added = backends.emplace_back();
            added.name = added.device = d.name;
        }
        BackendInfo& backend = backends[id];
        if (!backend.default_buffer_type) { // memory of its own
            backend.default_buffer_type = narrow<BufferTypeId>(recorded_.buffer_types.size());
            recorded_.buffer_types.emplace_back().name = d.name;
        }
        BufferTypeInfo& memory = recorded_.buffer_types[*backend.default_buffer_type];
        const std::string name = memory.name;
        memory = profile->memory();
        memory.name = name;
        backend.kind = profile->backend().kind;
        backend.keeps_order = !profile->is_ours();
        backend.description = profile->backend().description;
        backend.memory_bytes = d.memory_bytes > 0 ? std::optional(d.memory_bytes) : profile->backend().memory_bytes;
        for (BackendId b = 0; b < n_of(backends); ++b) { // of a new one nothing is set, of the others not the new memory
            std::vector<uint8_t>& uses = backends[b].supports_buffer_type;
            for (auto type = narrow<BufferTypeId>(uses.size()); type < n_of(recorded_.buffer_types); ++type) {
                const bool own = backends[b].default_buffer_type == type;
                const bool hosts = b == id ? profile->uses_host_memory() : backends[b].kind == "cpu";
                uses.push_back(own || (recorded_.buffer_types[type].is_host && hosts));
            }
        }
        described_.push_back({id, std::move(profile), !d.trace.empty()});
    }

    /// In which llama.cpp puts the caches of layers on the host, whatever memory its CPU backend computes in; a recording in
    /// which none lies there does not have it.
    void add_plain_host_memory() {
        if (!plain_host_memory(recorded_)) {
            add_memory_of_cpus(recorded_.backends.back().name, true);
        }
    }

    /// In which the CPU lays weights out where it is alone; a recording with other devices does not have it. Another program's
    /// CPU does not do it.
    void add_laid_out_memory() {
        const bool is_ours = !recorded_.backends[n_recorded_ - 1].keeps_order.value_or(false);
        if (is_ours && !recorded_.settings->laid_out.empty() && !memory_named(recorded_, laid_out_memory, false)) {
            add_memory_of_cpus(std::string(laid_out_memory), false);
        }
    }

    void add_memory_of_cpus(const std::string& name, bool is_host) {
        BufferTypeInfo& memory = recorded_.buffer_types.emplace_back();
        memory.name = name;
        memory.is_host = is_host;
        for (BackendInfo& backend : recorded_.backends) {
            backend.supports_buffer_type.resize(recorded_.buffer_types.size(), backend.kind == "cpu" ? 1 : 0);
        }
    }

    void change_answers(const OwnedGraph& graph, CapabilityTable& answers) const {
        const size_t n = n_of(recorded_.backends) * graph.tensors.size();
        answers.op_answers.resize(std::max(n, answers.op_answers.size()), Answer::no(Refusal::not_asked, ""));
        answers.offload_answers.resize(answers.op_answers.size());
        const int64_t min_batch = offload_min_batch(recorded_);
        for (const DescribedBackend& d : described_) {
            for (TensorId t = 0; t < n_of(graph.tensors) && answers.has(d.backend, t); ++t) {
                const OpQuestion question = OpQuestion::about(graph.view(), t, recorded_.buffer_types);
                answers.refuse(d.backend, t, d.profile->supports_op(question));
                answers.set_offload(d.backend, t, d.profile->wants_offload(question, min_batch));
            }
        }
        refuse_operators(graph, answers);
    }

    /// Another program's backends are asked who takes work over only of what reads a weight in host memory.
    std::vector<bool> who_was_asked(const OwnedGraph& graph) const {
        std::vector<bool> asked(profiles_.empty() ? 0 : graph.tensors.size());
        for (size_t t = 0; t < asked.size(); ++t) {
            asked[t] = OpQuestion::about(graph.view(), narrow<TensorId>(t), recorded_.buffer_types).reads_host_weight;
        }
        return asked;
    }

    /// What reads one now and was not asked: as its device answered alike questions.
    void infer_take_overs(ReplayInput& in, const std::vector<BackendId>& order, const std::vector<bool>& asked) const {
        const int64_t min_batch = offload_min_batch(recorded_);
        for (BackendId b = 0; b < n_of(in.session.backends); ++b) {
            const BackendId recorded = order.empty() ? b : order[b];
            const DeviceProfile* const profile = is_index(recorded, profiles_) ? profiles_[recorded].get() : nullptr;
            if (profile == nullptr) {
                continue;
            }
            for (TensorId t = 0; t < n_of(asked) && in.answers.has(b, t); ++t) {
                const OpQuestion question = OpQuestion::about(in.graph.view(), t, in.session.buffer_types);
                if (!asked[t] && question.reads_host_weight && question.node->ne) {
                    in.answers.set_offload(b, t, profile->wants_offload(question, min_batch));
                }
            }
        }
    }

    /// Does a source of the node's lie in a device's memory? Of a view ggml does not know it before memory is planned.
    static bool reads_device_memory(const ReplayInput& in, const TensorInfo& node) {
        return std::any_of(node.src.begin(), node.src.end(), [&](TensorId source) {
            const TensorInfo* const t = source == no_tensor ? nullptr : &in.graph.tensors[source];
            return t != nullptr && t->view_source == no_tensor && t->buffer_type != no_buffer_type &&
                   !in.session.buffer_types[t->buffer_type].is_host;
        });
    }
    /// Was it asked about a node that computes?
    static bool is_answered(const ReplayInput& in, BackendId backend, TensorId id) {
        const TensorInfo& node = in.graph.tensors[id];
        return node.op && *node.op != Op::NONE && !is_view_op(*node.op) && in.answers.has(backend, id) &&
               in.answers.op_answer(backend, id).reason != Refusal::not_asked;
    }

    /// ggml's CPU backend said no to all that reads a device's memory, in builds of up to 2025: such an answer is one about
    /// memory, and changes with it.
    bool host_answers_by_memory(const ReplayInput& in) const {
        if (recorded_.settings || in.answers.op_answers.empty()) {
            return false;
        }
        const auto host = narrow<BackendId>(n_of(in.session.backends) - 1);
        const auto is_asked = [&](TensorId id) {
            return is_answered(in, host, id) && reads_device_memory(in, in.graph.tensors[id]);
        };
        const auto is_no = [&](TensorId id) { return !is_asked(id) || !in.answers.supports_op(host, id).yes; };
        return std::any_of(in.graph.nodes.begin(), in.graph.nodes.end(), is_asked) &&
               std::all_of(in.graph.nodes.begin(), in.graph.nodes.end(), is_no);
    }
    /// What it would say if all lay in host memory; `refuses`: of where it lies now.
    static void answer_host_by_memory(ReplayInput& in, bool refuses) {
        const auto host = narrow<BackendId>(n_of(in.session.backends) - 1);
        for (const TensorId id : in.graph.nodes) {
            if (is_answered(in, host, id) && reads_device_memory(in, in.graph.tensors[id])) {
                in.answers.refuse(host, id, refuses ? Answer::no(Refusal::memory, "reads a device's memory") : Answer{});
            }
        }
    }

    /// Of a scheduler that has some of the session's backends, those.
    std::vector<BackendId> order_of(const ReplayInput& in) const {
        std::vector<BackendId> order = order_;
        if (!in.own.empty()) {
            std::erase_if(order, [&](BackendId b) {
                return b < n_recorded_ && std::find(in.own.begin(), in.own.end(), b) == in.own.end();
            });
        }
        return order.empty() ? in.own : order;
    }

    bool changes_devices() const {
        return !placement_setting().empty() || !what_if_.device_order.empty() || !what_if_.refusals.empty();
    }

    /// One that can be answered only if it is known where the model's tensors belong; empty: there is none.
    std::string placement_setting() const {
        return what_if_.n_gpu_layers            ? "ngl=" + gpu_layers_text(*what_if_.n_gpu_layers)
               : !what_if_.overrides.empty()    ? "ot=" + what_if_.overrides.front().text()
               : !what_if_.tensor_split.empty() ? "ts=" + shares_text(what_if_.tensor_split)
               : what_if_.cache_on_host         ? std::string("nkvo=") + (*what_if_.cache_on_host ? "on" : "off")
                                                : "";
    }

    void make_policy() {
        if (!changes_devices()) {
            return;
        }
        if (recorded_.backends.empty()) {
            refuse(placement_setting(), "the trace has no devices");
        }
        if (recorded_.settings) {
            policy_ = policy_of(recorded_.settings->placement, recorded_.settings->n_layers, order_);
        } else if (!placement_setting().empty()) {
            int32_t n_blocks = 0;
            for (GraphId g = 0; g < source_.n_graphs(); ++g) {
                n_blocks = std::max(n_blocks, n_named_blocks(source_.graph(g)));
            }
            if (n_blocks == 0) {
                refuse(placement_setting(), "the trace does not say which layers its tensors belong to" + what_can_be_set());
            }
            policy_ = policy_of({}, n_blocks, order_); // for what is wrong with the setting; each plan has its own
        }
        if (policy_ && !what_if_.overrides.empty()) {
            require_overrides_match();
        }
    }

    PlacementPolicy policy_of(PlacementOptions options, int32_t n_layers, const std::vector<BackendId>& order) const {
        std::vector<PlacedDevice> devices = placed_devices(recorded_, order);
        for (TensorOverride& recorded : options.overrides) { // what lay on a device that is gone lies on the host
            const auto is_meant = [&](const PlacedDevice& d) { return same_ignoring_case(d.name, recorded.device); };
            if (std::none_of(devices.begin(), devices.end(), is_meant)) {
                recorded.device = devices.back().name;
            }
        }
        options.n_gpu_layers = what_if_.n_gpu_layers.value_or(options.n_gpu_layers);
        options.cache_on_host = what_if_.cache_on_host.value_or(options.cache_on_host);
        options.overrides = what_if_.overrides.empty() ? options.overrides : what_if_.overrides;
        options.tensor_split = what_if_.tensor_split.empty() ? options.tensor_split : what_if_.tensor_split;
        const std::string split = !what_if_.tensor_split.empty()   ? "ts=" + shares_text(what_if_.tensor_split)
                                  : !what_if_.device_order.empty() ? "device-order: the recorded -ts"
                                                                   : "the recorded -ts";
        const std::string_view overrides = what_if_.overrides.empty() ? "the recorded -ot " : "ot=";
        return PlacementPolicy(options, std::move(devices), n_layers, PlacementWords{overrides, split});
    }

    /// Of another program's plan: by llama.cpp's names for tensors, if what -ngl and -nkvo put somewhere lies there. Nothing: its
    /// model's tensors stay.
    std::optional<PlacementPolicy> policy_by_names(ReplayInput& in) const {
        if (n_named_blocks(in.graph) == 0) {
            return std::nullopt;
        }
        name_parts(in.graph);
        in.n_tokens = rows_of_norms(in.graph);
        const std::optional<PlacementOptions> asked = asked_placement(in.graph, recorded_);
        if (!asked) {
            return std::nullopt;
        }
        bool is_known = is_placed_by(in, *asked);
        if (!is_known && is_unpinned_reserve(in)) { // ggml_backend_sched_reserve_size forgets what the program pinned
            for (TensorInfo& t : in.graph.tensors) {
                t.role = t.role == Role::norm || t.role == Role::attended ? Role::none : t.role;
            }
            is_known = is_placed_by(in, *asked);
        }
        return is_known ? std::optional(policy_of(*asked, n_named_blocks(in.graph), order_of(in))) : std::nullopt;
    }

    bool is_unpinned_reserve(const ReplayInput& in) const {
        const auto is_pinned = [&](TensorId id) { return in.graph.tensors[id].user_backend != no_backend; };
        return source_.evaluation(in.evaluation).begin.kind == GraphKind::reserve &&
               std::none_of(in.graph.nodes.begin(), in.graph.nodes.end(), is_pinned);
    }

    /// The tokens that are computed together.
    static int32_t rows_of_norms(const OwnedGraph& graph) {
        const auto is_norm = [&](TensorId id) { return graph.tensors[id].role == Role::norm; };
        const auto first = std::find_if(graph.nodes.begin(), graph.nodes.end(), is_norm);
        return first == graph.nodes.end() ? 0 : int_of(graph.tensors[*first].ne.value_or(Shape{})[1]);
    }

    /// Do these options put each tensor where it was recorded?
    bool is_placed_by(const ReplayInput& in, const PlacementOptions& options) const {
        std::vector<BackendId> order = in.own;
        for (BackendId b = 0; b < n_recorded_ && in.own.empty(); ++b) {
            order.push_back(b);
        }
        const auto rehomed = [&](const PlacementPolicy* policy) {
            SessionInfo session = in.session;
            OwnedGraph graph = OwnedGraph::copy_of(in.graph.view());
            CapabilityTable answers = in.answers;
            answers.session = &session;
            ReplayInput copy{session,          graph,       answers,       in.op_offload, in.offload_min_batch, in.n_stages,
                             in.current_stage, in.n_tokens, in.evaluation, in.reserve,    in.alternatives,      in.own};
            rehome(copy, recorded_, order, policy);
            return graph;
        };
        const PlacementPolicy policy(options, placed_devices(recorded_, order), n_named_blocks(in.graph));
        const OwnedGraph as_recorded = rehomed(nullptr), as_asked = rehomed(&policy);
        return std::equal(as_recorded.tensors.begin(), as_recorded.tensors.end(), as_asked.tensors.begin(),
                          as_asked.tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
                              return a.buffer_type == b.buffer_type && a.user_backend == b.user_backend && a.src == b.src;
                          });
    }

    /// Looks no further than to the graph with which each pattern has found something.
    void require_overrides_match() const {
        std::vector<OverrideReport> reports = override_reports(policy_->overrides());
        const auto found = [](const OverrideReport& r) { return r.matched + r.shadowed > 0; };
        for (GraphId g = 0; g < source_.n_graphs() && !std::all_of(reports.begin(), reports.end(), found); ++g) {
            for (const TensorInfo& tensor : source_.graph(g).tensors) {
                if (tensor.usage == BufferUsage::weights) {
                    count_matches(policy_->overrides(), tensor.name, reports);
                }
            }
        }
        require_matches(reports, "the trace", "ot=");
    }

    void refuse_operators(const OwnedGraph& graph, CapabilityTable& answers) const {
        for (const WhatIf::RefusedOp& r : what_if_.refusals) {
            for (BackendId b = 0; b < n_of(recorded_.backends); ++b) {
                const BackendInfo& backend = recorded_.backends[b];
                if (!same_ignoring_case(r.device, backend.name) && !same_ignoring_case(r.device, backend.device)) {
                    continue;
                }
                for (TensorId t = 0; t < n_of(graph.tensors) && answers.has(b, t); ++t) {
                    if (r.is(graph.tensors[t])) {
                        answers.refuse(b, t, Answer::no(Refusal::op, "refused by --set"));
                    }
                }
            }
        }
    }

    /// The recorded graph, or the one that it would have been with flash attention otherwise.
    void use_graph(ReplayInput& in) {
        const bool was_flash = is_flash(in.graph), wanted = wanted_flash(in, was_flash);
        const std::string_view on_off = wanted ? "fa=on" : "fa=off";
        if (wanted == was_flash) {
            return;
        }
        const record::Alternative* other = alternative(in, on_off);
        if (other == nullptr && !recorded_.settings) {
            refuse(on_off, "what another program's graphs are with it is not known: record it again so, and `diff` compares");
        }
        if (other == nullptr) {
            refuse(on_off,
                   "the trace does not hold the graph of evaluation " + std::to_string(in.evaluation) +
                       " that would have been (a quantised cache of values needs flash attention; traces of older programs have "
                       "none): record it again with -fa " +
                       std::string(on_off.substr(3)) + " --dry-run");
        }
        const SessionInfo* session = in.answers.session;
        in.graph = OwnedGraph::copy_of(source_.graph(other->graph).view());
        in.answers = source_.answers(other->graph);
        in.answers.session = session;
        change_answers(in.graph, in.answers);
    }

    const record::Alternative* alternative(const ReplayInput& in, std::string_view setting) const {
        const auto found = std::find_if(in.alternatives.begin(), in.alternatives.end(),
                                        [&](const record::Alternative& a) { return source_.text(a.setting) == setting; });
        return found == in.alternatives.end() ? nullptr : &*found;
    }

    /// Another program's graphs say it themselves.
    bool is_flash(const OwnedGraph& graph) const {
        return recorded_.settings ? recorded_.settings->flash_attention.value_or(false)
                                  : flash_attention_of(graph).value_or(false);
    }

    /// As said, or as recorded; with -fa auto the runtime would ask the devices again.
    bool wanted_flash(const ReplayInput& in, bool was_flash) {
        if (what_if_.flash_attention) {
            return recorded_.settings || flash_attention_of(in.graph) ? *what_if_.flash_attention : was_flash;
        }
        if (!policy_ || !recorded_.settings || recorded_.settings->flash_attention_asked != FlashAttention::automatic ||
            !changes_devices()) {
            return was_flash;
        }
        if (!flash_) {
            const record::Alternative* on = was_flash ? nullptr : alternative(in, "fa=on");
            if (!was_flash && on == nullptr) {
                return false;
            }
            flash_ = was_flash ? flash_everywhere(in.graph, in.answers) : [&] {
                CapabilityTable answers = source_.answers(on->graph);
                const OwnedGraph& graph = source_.graph(on->graph);
                change_answers(graph, answers);
                return flash_everywhere(graph, answers);
            }();
        }
        return *flash_;
    }

    bool flash_everywhere(const OwnedGraph& graph, const CapabilityTable& answers) const {
        return policy_->flash_attention_everywhere(
            graph.nodes, [&](TensorId id) -> const TensorInfo& { return graph.tensors[id]; },
            [&](int32_t home, TensorId id) { return answers.supports_op(order_[home], id).yes; });
    }

    BackendId backend_named(const std::string& setting, const std::string& name) const {
        for (size_t b = 0; b < recorded_.backends.size(); ++b) {
            if (same_ignoring_case(name, recorded_.backends[b].name)) {
                return narrow<BackendId>(b);
            }
        }
        refuse(setting, "the trace has no device '" + name + "'; it has " + names_of(recorded_) + device_meant(recorded_, name));
    }

    void make_order() {
        const auto last = narrow<BackendId>(n_recorded_) - 1;
        for (const std::string& name : what_if_.device_order) {
            const BackendId b = backend_named("device-order", name);
            if (std::find(order_.begin(), order_.end(), b) != order_.end()) {
                refuse("device-order", "'" + name + "' stands there twice: a second one is described, as in b=vulkan:2GiB");
            }
            if (b != last) { // the CPU is the last one in any case
                order_.push_back(b);
            }
        }
        if (what_if_.device_order.empty()) {
            for (BackendId b = 0; b < last; ++b) {
                order_.push_back(b);
            }
        }
        order_.push_back(narrow<BackendId>(last));
    }

    WhatIf what_if_;
    const RecordSource& source_;
    SessionInfo recorded_; ///< with described devices
    int32_t n_recorded_ = 0;
    std::vector<DescribedBackend> described_;
    std::optional<bool> flash_;                                  ///< what -fa auto comes to now, once asked
    std::vector<BackendId> order_;                               ///< recorded numbers of the backends, in the new order
    std::optional<PlacementPolicy> policy_;                      ///< for these; none: it is not known where things belong
    std::vector<std::shared_ptr<const DeviceProfile>> profiles_; ///< of another program's backends, where devices change
    int32_t n_plans_ = 0;
};

constexpr std::array<WhatIfSetting, 11> settings{
    {{"ngl", "N|all", "the output layer and the last N-1 blocks on devices"},
     {"device-order", "vulkan0,cpu", "these devices and no others, by priority; cpu is last", true},
     {"refuse", "DEVICE:OP", "the device does not run the operator: vulkan0:SOFT_MAX", true},
     {"fa", "on|off", "flash attention"},
     {"stages", "N", "copies of a pipeline, 1 to 16 (run and record take 1 or 4)", true},
     {"op-offload", "on|off", "may a device take over work whose weight lies on the host?", true},
     {"offload-min-batch", "N", "from how many rows on it does", true},
     {"ot", "PATTERN=DEVICE", "weights whose name the regular expression finds lie there: ffn_.*_exps=cpu"},
     {"ts", "A,B", "how the layers are shared among the devices: 3,1"},
     {"nkvo", "on|off", "the KV cache on the host"},
     {"fusion", "on|off", "several nodes as one kernel"}}};

/// The option of a run for what makes other graphs, by its names there and among a session's facts; empty: it does not.
std::string_view option_of_graphs(std::string_view name) noexcept {
    constexpr std::pair<std::string_view, std::string_view> options[] = {
        {"c", "-c"},          {"n_ctx", "-c"},  {"b", "-b"},      {"n_batch", "-b"},         {"ub", "--ub"},
        {"n_ubatch", "--ub"}, {"ctk", "--ctk"}, {"ctv", "--ctv"}, {"cache_type_k", "--ctk"}, {"cache_type_v", "--ctv"}};
    const auto* const found =
        std::find_if(std::begin(options), std::end(options), [&](const auto& o) { return o.first == name; });
    return found == std::end(options) ? std::string_view() : found->second;
}

} // namespace

std::span<const WhatIfSetting> what_if_settings() noexcept { return settings; }

std::vector<std::string> what_if_beginnings() {
    std::vector<std::string> all;
    for (const WhatIfSetting& setting : settings) {
        const std::string name = std::string(setting.name) + "=";
        if (setting.value == "on|off") {
            all.push_back(name + "on");
            all.push_back(name + "off");
        } else {
            all.push_back(name);
        }
    }
    return all;
}

void WhatIf::set(std::string_view setting) {
    const size_t equals = setting.find('=');
    if (equals == std::string_view::npos) {
        refuse(setting, "NAME=VALUE is wanted");
    }
    const std::string_view name = setting.substr(0, equals), value = setting.substr(equals + 1);
    constexpr int64_t most = 1 << 30;
    if (name == "ngl") {
        n_gpu_layers = value == "all" ? all_gpu_layers : int_of(number(setting, value, 0, most));
    } else if (name == "device-order") {
        device_order.clear();
        for (const std::string_view device : pieces(setting, value, "names")) {
            device_order.emplace_back(device);
        }
    } else if (name == "refuse") {
        const size_t colon = value.rfind(':');
        if (colon == std::string_view::npos || colon == 0) {
            refuse(setting, "DEVICE:OP is wanted");
        }
        refusals.push_back({std::string(value.substr(0, colon)), std::string(value.substr(colon + 1))});
        std::string& op = refusals.back().op;
        std::transform(op.begin(), op.end(), op.begin(), [](char c) { return std::toupper(static_cast<unsigned char>(c)); });
    } else if (name == "ot") {
        overrides.push_back(TensorOverride::parse(value, "ot="));
    } else if (name == "ts") {
        tensor_split.clear();
        for (const std::string_view share : pieces(setting, value, "shares")) {
            tensor_split.push_back(read_number<float>(share).value_or(-1.0F));
            if (!(tensor_split.back() >= 0) || !std::isfinite(tensor_split.back())) {
                refuse(setting, "a share must be a number that is not negative");
            }
        }
    } else if (name == "nkvo") {
        cache_on_host = on_or_off(setting, value);
    } else if (name == "fusion") {
        fusion = on_or_off(setting, value);
    } else if (name == "fa") {
        flash_attention = on_or_off(setting, value);
    } else if (name == "stages") {
        constexpr int64_t most_stages = 16;
        stages = int_of(number(setting, value, 1, most_stages));
    } else if (name == "op-offload") {
        op_offload = on_or_off(setting, value);
    } else if (name == "offload-min-batch") {
        offload_min_batch = number(setting, value, 1, most);
    } else if (const std::string_view option = option_of_graphs(name); !option.empty()) {
        refuse(setting, "graphs stay as they were recorded: record --dry-run " + std::string(option) + " " + std::string(value) +
                            " -o OTHER.trace plans those that it makes, and `diff` compares");
    } else {
        std::vector<std::string_view> names;
        std::transform(settings.begin(), settings.end(), std::back_inserter(names),
                       [](const WhatIfSetting& s) { return s.name; });
        refuse(setting, "there is no '" + std::string(name) + "'; there are " + joined(names, ", ") + did_you_mean(names, name));
    }
}

std::optional<bool> flash_attention_of(const OwnedGraph& graph) noexcept {
    std::optional<bool> flash;
    for (const TensorId id : graph.nodes) {
        if (graph.tensors[id].op == Op::FLASH_ATTN_EXT) {
            return true;
        }
        flash = graph.tensors[id].op == Op::SOFT_MAX ? false : flash;
    }
    return flash;
}

ReplayOptions options_for(const WhatIf& what_if, const RecordSource& source) {
    if (source.n_graphs() > 0) {
        require_plannable(source.session(), source.graph(0), source.answers(0)); // rather than for what the settings miss in it
    }
    ReplayOptions options;
    options.fusion = what_if.fusion;
    const auto change = std::make_shared<WhatIfChange>(what_if, source);
    options.change = [change](ReplayInput& input) { (*change)(input); };
    options.instead = WhatIfChange::what_can_be_set();
    options.profiles = change->profiles();
    return options;
}

} // namespace schedscope
