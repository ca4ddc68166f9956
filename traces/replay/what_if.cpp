#include "traces/replay/what_if.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/planner/placement/layer_homes.h"
#include "runtime/system/joined.h"
#include "runtime/system/read_number.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/rehome.h"

#include <algorithm>
#include <array>
#include <cctype>
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

Op operator_named(std::string_view setting, std::string_view name) {
    std::string upper(name);
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return std::toupper(static_cast<unsigned char>(c)); });
    const auto op = op_from_name(upper);
    if (!op) {
        refuse(setting, "there is no operator '" + upper + "'");
    }
    return *op;
}

std::string names_of(const SessionInfo& session) {
    return joined(session.backends, ", ", [](const BackendInfo& b) { return visible_name(b.name); });
}

/// Applies the changes to plan after plan.
class WhatIfChange {
public:
    WhatIfChange(const WhatIf& what_if, const RecordSource& source)
        : what_if_(what_if), source_(source), recorded_(source.session()) {
        was_flash_ = session_fact(recorded_, "flash_attention") == "on";
        asks_itself_ = session_fact(recorded_, "flash_attention_asked") == "auto";
        for (const WhatIf::RefusedOp& r : what_if.refusals) {
            backend_named("refuse=" + r.device + ":" + std::string(op_name(r.op)), r.device);
        }
        make_order();
    }

    void operator()(ReplayInput& in) {
        refuse_operators(in.graph, in.answers);
        use_graph(in);
        if (changes_devices()) {
            rehome(in, recorded_, order_, what_if_.n_gpu_layers);
        }
        const size_t n = in.graph.tensors.size();
        for (size_t b = 0; b < in.session.backends.size(); ++b) {
            const BackendInfo& backend = in.session.backends[b];
            if (what_if_.offload_min_batch && holds_layers(backend.kind)) {
                for (size_t t = 0; t < n && b * n + t < in.answers.offload_answers.size(); ++t) {
                    const int64_t batch = offload_batch(in.graph.tensors[t].op, in.graph.tensors[t].ne);
                    in.answers.offload_answers[b * n + t] = batch > 0 && batch >= *what_if_.offload_min_batch ? 1 : 0;
                }
            }
        }
        in.op_offload = what_if_.op_offload.value_or(in.op_offload);
        if (what_if_.stages) {
            in.n_stages = *what_if_.stages;
            in.current_stage = n_plans_ % in.n_stages; // a scheduler's plans go round robin
        }
        n_plans_ += in.reserve ? 0 : 1;
    }

private:
    bool changes_devices() const { return what_if_.n_gpu_layers || !what_if_.device_order.empty() || !what_if_.refusals.empty(); }

    void refuse_operators(const OwnedGraph& graph, CapabilityTable& answers) const {
        const size_t n = graph.tensors.size();
        for (const WhatIf::RefusedOp& r : what_if_.refusals) {
            for (size_t b = 0; b < recorded_.backends.size(); ++b) {
                const BackendInfo& backend = recorded_.backends[b];
                if (!same_ignoring_case(r.device, backend.name) && !same_ignoring_case(r.device, backend.device)) {
                    continue;
                }
                for (size_t t = 0; t < n && b * n + t < answers.op_answers.size(); ++t) {
                    if (graph.tensors[t].op == r.op) {
                        answers.op_answers[b * n + t] = Answer::no(Refusal::op, "refused by --set");
                    }
                }
            }
        }
    }

    /// The recorded graph, or the one that it would have been with flash attention otherwise.
    void use_graph(ReplayInput& in) {
        const std::string_view on_off = wanted_flash(in) ? "fa=on" : "fa=off";
        if (wanted_flash(in) == was_flash_) {
            return;
        }
        const record::Alternative* other = alternative(in, on_off);
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
        refuse_operators(in.graph, in.answers);
    }

    const record::Alternative* alternative(const ReplayInput& in, std::string_view setting) const {
        const auto found = std::find_if(in.alternatives.begin(), in.alternatives.end(),
                                        [&](const record::Alternative& a) { return source_.text(a.setting) == setting; });
        return found == in.alternatives.end() ? nullptr : &*found;
    }

    /// As said, or as recorded; with -fa auto the runtime would ask the devices again.
    bool wanted_flash(const ReplayInput& in) {
        if (what_if_.flash_attention) {
            return *what_if_.flash_attention;
        }
        if (!asks_itself_ || !changes_devices()) {
            return was_flash_;
        }
        if (!flash_) {
            const record::Alternative* on = was_flash_ ? nullptr : alternative(in, "fa=on");
            if (!was_flash_ && on == nullptr) {
                return false;
            }
            flash_ = was_flash_ ? flash_everywhere(in.graph, in.answers) : [&] {
                CapabilityTable answers = source_.answers(on->graph);
                const OwnedGraph& graph = source_.graph(on->graph);
                refuse_operators(graph, answers);
                return flash_everywhere(graph, answers);
            }();
        }
        return *flash_;
    }

    /// Does each layer's device run the layer's flash attention? The graph's nodes of it stand in the order of the layers.
    bool flash_everywhere(const OwnedGraph& graph, const CapabilityTable& answers) const {
        SessionInfo session;
        for (const BackendId b : order_) {
            session.backends.push_back(recorded_.backends[b]);
        }
        const std::vector<int32_t> homes = layer_homes_with(recorded_, session, what_if_.n_gpu_layers);
        size_t layer = 0;
        for (const TensorId id : graph.nodes) {
            if (graph.tensors[id].op == Op::FLASH_ATTN_EXT) {
                const size_t home = layer < homes.size() ? homes[layer] : homes.back();
                ++layer;
                if (!answers.supports_op(order_[home], id).yes) {
                    return false;
                }
            }
        }
        return true;
    }

    BackendId backend_named(const std::string& setting, const std::string& name) const {
        for (size_t b = 0; b < recorded_.backends.size(); ++b) {
            if (same_ignoring_case(name, recorded_.backends[b].name)) {
                return narrow<BackendId>(b);
            }
        }
        refuse(setting, "the trace has no device '" + name + "'; it has " + names_of(recorded_));
    }

    void make_order() {
        const auto last = narrow<BackendId>(recorded_.backends.size()) - 1;
        for (const std::string& name : what_if_.device_order) {
            const BackendId b = backend_named("device-order", name);
            if (std::find(order_.begin(), order_.end(), b) != order_.end()) {
                refuse("device-order", "'" + name + "' stands there twice");
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

    const WhatIf what_if_;
    const RecordSource& source_;
    const SessionInfo recorded_;
    bool was_flash_ = false, asks_itself_ = false;
    std::optional<bool> flash_;    ///< what -fa auto comes to now, once asked
    std::vector<BackendId> order_; ///< recorded numbers of the backends, in the new order
    int32_t n_plans_ = 0;
};

constexpr std::array<WhatIfSetting, 7> settings{{{"ngl", "N"},
                                                 {"device-order", "DEVICE,DEVICE"},
                                                 {"refuse", "DEVICE:OP"},
                                                 {"fa", "on|off"},
                                                 {"stages", "N"},
                                                 {"op-offload", "on|off"},
                                                 {"offload-min-batch", "N"}}};

} // namespace

std::span<const WhatIfSetting> what_if_settings() noexcept { return settings; }

void WhatIf::set(std::string_view setting) {
    const size_t equals = setting.find('=');
    if (equals == std::string_view::npos) {
        refuse(setting, "NAME=VALUE is wanted");
    }
    const std::string_view name = setting.substr(0, equals), value = setting.substr(equals + 1);
    constexpr int64_t most = 1 << 30;
    if (name == "ngl") {
        n_gpu_layers = int_of(number(setting, value, 0, most));
    } else if (name == "device-order") {
        device_order.clear();
        for (size_t at = 0; at <= value.size();) {
            const size_t comma = std::min(value.find(',', at), value.size());
            if (comma == at) {
                refuse(setting, "names with commas between them are wanted");
            }
            device_order.emplace_back(value.substr(at, comma - at));
            at = comma + 1;
        }
    } else if (name == "refuse") {
        const size_t colon = value.rfind(':');
        if (colon == std::string_view::npos || colon == 0) {
            refuse(setting, "DEVICE:OP is wanted");
        }
        refusals.push_back({std::string(value.substr(0, colon)), operator_named(setting, value.substr(colon + 1))});
    } else if (name == "fa") {
        flash_attention = on_or_off(setting, value);
    } else if (name == "stages") {
        constexpr int64_t most_stages = 16;
        stages = int_of(number(setting, value, 1, most_stages));
    } else if (name == "op-offload") {
        op_offload = on_or_off(setting, value);
    } else if (name == "offload-min-batch") {
        offload_min_batch = number(setting, value, 1, most);
    } else {
        refuse(setting, "there is no '" + std::string(name) + "'; there are " + joined(settings, ", ", &WhatIfSetting::name));
    }
}

ReplayOptions options_for(const WhatIf& what_if, const RecordSource& source) {
    if (source.n_graphs() > 0) {
        refuse_logged(source.graph(0), source.answers(0)); // rather than for what the settings miss in it
    }
    ReplayOptions options;
    const auto change = std::make_shared<WhatIfChange>(what_if, source);
    options.change = [change](ReplayInput& input) { (*change)(input); };
    return options;
}

} // namespace schedscope
