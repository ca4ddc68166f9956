#include "traces/what_if.h"

#include "runtime/error.h"
#include "runtime/tensor/offload_batch.h"
#include "traces/rehome.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>

namespace schedscope {

namespace {

bool same_name(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
}

[[noreturn]] void refuse(std::string_view setting, const std::string& why) {
    throw Error(ErrorKind::usage, "--set " + std::string(setting) + ": " + why);
}

int64_t number(std::string_view setting, std::string_view value, int64_t least, int64_t most) {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc() || end != value.data() + value.size() || n < least || n > most) {
        refuse(setting, "a number from " + std::to_string(least) + " to " + std::to_string(most) + " is wanted");
    }
    return n;
}

bool on_or_off(std::string_view setting, std::string_view value) {
    if (value != "on" && value != "off") {
        refuse(setting, "on or off is wanted");
    }
    return value == "on";
}

Op operator_named(std::string_view setting, std::string_view name) {
    std::string upper(name);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    const auto op = op_from_name(upper);
    if (!op) {
        refuse(setting, "there is no operator '" + upper + "'");
    }
    return *op;
}

std::string names_of(const SessionInfo& session) {
    std::string names;
    for (const BackendInfo& b : session.backends) {
        names += (names.empty() ? "" : ", ") + b.name;
    }
    return names;
}

/// Applies the changes to plan after plan.
class Change {
public:
    Change(const WhatIf& what_if, const RecordSource& source) : what_if_(what_if), recorded_(source.session()) {
        if (what_if.flash_attention) {
            check_flash_attention(*what_if.flash_attention);
        }
        for (const WhatIf::Refusal& r : what_if.refusals) {
            backend_named("refuse=" + r.device + ":" + std::string(op_name(r.op)), r.device);
        }
        make_order();
    }

    void operator()(ReplayInput& in) {
        if (what_if_.n_gpu_layers || !what_if_.device_order.empty()) {
            rehome(in, recorded_, order_, what_if_.n_gpu_layers);
        }
        const size_t n = in.graph.tensors.size();
        for (size_t b = 0; b < in.session.backends.size(); ++b) {
            const BackendInfo& backend = in.session.backends[b];
            for (const WhatIf::Refusal& r : what_if_.refusals) {
                if (same_name(r.device, backend.name) || same_name(r.device, backend.device)) {
                    refuse_operator(in, b * n, r.op);
                }
            }
            if (what_if_.offload_min_batch && (backend.kind == "gpu" || backend.kind == "software")) {
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
        ++n_plans_;
    }

private:
    void refuse_operator(ReplayInput& in, size_t first, Op op) const {
        for (size_t t = 0; t < in.graph.tensors.size() && first + t < in.answers.op_answers.size(); ++t) {
            if (in.graph.tensors[t].op == op) {
                in.answers.op_answers[first + t] = Answer::no(Refusal::op, "refused by --set");
            }
        }
    }

    BackendId backend_named(const std::string& setting, const std::string& name) const {
        for (size_t b = 0; b < recorded_.backends.size(); ++b) {
            if (same_name(name, recorded_.backends[b].name)) {
                return static_cast<BackendId>(b);
            }
        }
        refuse(setting, "the trace has no device '" + name + "'; it has " + names_of(recorded_));
    }

    void make_order() {
        const auto last = static_cast<BackendId>(recorded_.backends.size()) - 1;
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
        order_.push_back(static_cast<BackendId>(last));
    }

    void check_flash_attention(bool wanted) const {
        for (const auto& [key, value] : recorded_.facts) {
            if (key == "flash_attention" && (value == "on") == wanted) {
                return; // as it was
            }
        }
        refuse(wanted ? "fa=on" : "fa=off",
               "the graph would have other nodes, about which no device was asked; record it again with -fa " +
                   std::string(wanted ? "on" : "off") + " --dry-run");
    }

    const WhatIf what_if_;
    const SessionInfo recorded_;
    std::vector<BackendId> order_; ///< recorded numbers of the backends, in the new order
    int32_t n_plans_ = 0;
};

} // namespace

void WhatIf::set(std::string_view setting) {
    const size_t equals = setting.find('=');
    if (equals == std::string_view::npos) {
        refuse(setting, "NAME=VALUE is wanted");
    }
    const std::string_view name = setting.substr(0, equals), value = setting.substr(equals + 1);
    constexpr int64_t most = 1 << 30;
    if (name == "ngl") {
        n_gpu_layers = static_cast<int32_t>(number(setting, value, 0, most));
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
        stages = static_cast<int32_t>(number(setting, value, 1, most_stages));
    } else if (name == "op-offload") {
        op_offload = on_or_off(setting, value);
    } else if (name == "offload-min-batch") {
        offload_min_batch = number(setting, value, 1, most);
    } else {
        refuse(setting, "there is no '" + std::string(name) +
                            "'; there are ngl, device-order, refuse, fa, stages, op-offload, offload-min-batch");
    }
}

ReplayOptions options_for(const WhatIf& what_if, const RecordSource& source) {
    ReplayOptions options;
    const auto change = std::make_shared<Change>(what_if, source);
    options.change = [change](ReplayInput& input) { (*change)(input); };
    return options;
}

} // namespace schedscope
