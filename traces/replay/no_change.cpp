#include "traces/replay/no_change.h"

#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/planner/placement/policy.h"
#include "runtime/system/joined.h"
#include "traces/history/history.h"
#include "traces/history/words/part_by_name.h"
#include "traces/history/words/words.h"
#include "traces/replay/foreign/named_parts.h"

#include <algorithm>

namespace schedscope {

namespace {

/// What the sentences need to know of all plans of a trace.
class Plans {
public:
    explicit Plans(const std::shared_ptr<const RecordSource>& source) : history_(source) {}

    /// Calls f(graph, state) for each plan.
    template <typename F> void for_each(F&& f) {
        for (EvaluationId e = 0; e < history_.n_evaluations(); ++e) {
            if (history_.evaluation(e).begin.reused) {
                continue;
            }
            const PlanState& state = history_.plan(e);
            if (const OwnedGraph* graph = history_.graph_of(state)) {
                f(*graph, state);
            }
        }
    }
    const SessionInfo& session() const noexcept { return history_.session(); }
    /// Null: they are not known.
    const PlanSettings* settings() const noexcept { return session().settings ? &*session().settings : nullptr; }
    const RecordSource& source() const noexcept { return history_.source(); }

private:
    History history_;
};

bool only_the_cpu(const SessionInfo& session) { return session.backends.size() < 2; }

constexpr const char* no_device = "there is no device but the CPU that ";

std::string of_layers(const WhatIf& what_if, const SessionInfo& session) {
    const std::string said = "ngl=" + gpu_layers_text(*what_if.n_gpu_layers) + ": ";
    if (only_the_cpu(session)) {
        return said + no_device + "layers could go to";
    }
    if (session.settings) {
        const int32_t recorded = session.settings->placement.n_gpu_layers, layers = session.settings->n_layers;
        if (recorded == *what_if.n_gpu_layers) {
            return said + "it was recorded with " + gpu_layers_text(recorded);
        }
        if (recorded > layers && *what_if.n_gpu_layers > layers) {
            return said + (layers == 1 ? "" : "all ") + words::counted(layers, "layer") +
                   " and the output were offloaded already";
        }
    }
    return said + "each layer stays on the device where it was";
}

std::string of_shares(const WhatIf& what_if, const SessionInfo& session) {
    const std::string said = "ts=" + shares_text(what_if.tensor_split) + ": ";
    const auto holds = [](const BackendInfo& b) { return holds_layers(b.kind.value_or("")); };
    const auto n_holders = std::count_if(session.backends.begin(), session.backends.end(), holds);
    if (n_holders < 2) {
        return said + (n_holders == 0 ? std::string(no_device) + "layers could go to" : "one device has all offloaded layers");
    }
    return said + (session.settings && session.settings->placement.tensor_split == what_if.tensor_split
                       ? "it was recorded with the same"
                       : "each layer stays on the device where it was");
}

std::string of_overrides(const WhatIf& what_if, const SessionInfo& session) {
    const std::string said = joined(what_if.overrides, " ", [](const TensorOverride& o) { return "ot=" + o.text(); }) + ": ";
    return said + (session.settings && session.settings->placement.overrides == what_if.overrides
                       ? "it was recorded with the same"
                       : "the weights that it places lie there already, or its device can't run what reads them");
}

std::string of_cache(const WhatIf& what_if, Plans& plans) {
    const bool on_host = *what_if.cache_on_host;
    const std::string said = std::string("nkvo=") + (on_host ? "on" : "off") + ": ";
    if (plans.settings() != nullptr && plans.settings()->placement.cache_on_host == on_host) {
        return said + "it was " + (on_host ? "on" : "off") + " when this was recorded";
    }
    bool cached = false;
    plans.for_each([&](const OwnedGraph& graph, const PlanState&) {
        cached = cached || std::any_of(graph.tensors.begin(), graph.tensors.end(), [](const TensorInfo& t) {
                     return role_of(t) == Role::cache && t.buffer_type != no_buffer_type;
                 });
    });
    return said + (!cached                                  ? "no graph has a KV cache"
                   : plans.settings() == nullptr && on_host ? "the KV cache lies there already"
                   : plans.settings() == nullptr            ? "it lies with its layers already"
                                                 : "the CPU has all layers, and their KV cache lies there in any case");
}

std::string of_order(const WhatIf& what_if, const SessionInfo& session) {
    const std::string& host = session.backends.back().name; // last in any order
    std::vector<std::string> asked = what_if.device_order;
    const bool ends_with_host = same_ignoring_case(asked.back(), host);
    const bool host_is_moved =
        std::erase_if(asked, [&](const auto& name) { return same_ignoring_case(name, host); }) > 0 && !ends_with_host;
    const bool is_recorded =
        std::equal(asked.begin(), asked.end(), session.backends.begin(), session.backends.end() - 1,
                   [](const std::string& name, const BackendInfo& b) { return same_ignoring_case(name, b.name); });
    return "device-order=" + joined(what_if.device_order, ",") + ": the order was " +
           joined(session.backends, ", ", &BackendInfo::name) +
           (!is_recorded    ? ", and no decision depends on the difference"
            : host_is_moved ? ", and " + host + " is last in any case"
                            : " already");
}

std::string of_refusal(const WhatIf::RefusedOp& refusal, Plans& plans) {
    const std::string &op = refusal.op, said = "refuse=" + refusal.device + ":" + op + ": ";
    const SessionInfo& session = plans.session();
    const size_t n_backends = session.backends.size();
    const auto is_meant = [&](size_t b) {
        return same_ignoring_case(refusal.device, session.backends[b].name) ||
               same_ignoring_case(refusal.device, session.backends[b].device);
    };
    int64_t n_nodes = 0, n_there = 0, n_could = 0;
    plans.for_each([&](const OwnedGraph& graph, const PlanState& state) {
        const CapabilityTable& answers = plans.source().answers(state.graph);
        for (const TensorId id : graph.nodes) {
            const size_t at = id;
            if (!refusal.is(graph.tensors[at])) {
                continue;
            }
            ++n_nodes;
            for (size_t b = 0; b < n_backends; ++b) {
                if (is_meant(b)) {
                    n_there += at < state.tensors.size() && state.tensors[at].backend == narrow<BackendId>(b) ? 1 : 0;
                    n_could += answers.supports_op(narrow<BackendId>(b), id).yes ? 1 : 0;
                }
            }
        }
    });
    if (n_nodes == 0) {
        return said + "no graph has a node of this operator";
    }
    if (n_could == 0) {
        return said + "it refused each " + op + " already";
    }
    if (n_there == 0) {
        return said + "no " + op + " was on it";
    }
    return said + "each " + op + " stays, for it follows the tensor that it is a view of or was pinned";
}

std::string of_flash_attention(const WhatIf& what_if, Plans& plans) {
    const bool on = *what_if.flash_attention;
    const std::string said = std::string("fa=") + (on ? "on" : "off") + ": ";
    std::optional<bool> was;
    if (plans.settings() != nullptr) {
        was = plans.settings()->flash_attention;
    } else {
        plans.for_each([&](const OwnedGraph& graph, const PlanState&) {
            const std::optional<bool> flash = flash_attention_of(graph);
            was = was.value_or(false) || !flash ? was : flash;
        });
    }
    if (was == on) {
        return said + "it was " + (on ? "on" : "off") + " when this was recorded";
    }
    return said + "no graph has attention that it could change";
}

std::string of_stages(const WhatIf& what_if, Plans& plans) {
    const std::string said = "stages=" + std::to_string(*what_if.stages) + ": ";
    if ((plans.settings() != nullptr ? plans.settings()->n_stages : 1) == *what_if.stages) {
        return said + "it was recorded with as many";
    }
    int64_t inputs = 0;
    plans.for_each([&](const OwnedGraph&, const PlanState& state) {
        for (const SplitState& split : state.splits) {
            inputs += split.inputs.size();
        }
    });
    return said +
           (inputs == 0 ? "no split has an input, so there is nothing to keep a copy of per stage" : "no copy is kept per stage");
}

std::string of_offload(const WhatIf& what_if, Plans& plans) {
    const SessionInfo& session = plans.session();
    const PlanSettings* recorded = plans.settings();
    const std::string said = what_if.op_offload ? std::string("op-offload=") + (*what_if.op_offload ? "on" : "off") + ": "
                                                : "offload-min-batch=" + std::to_string(*what_if.offload_min_batch) + ": ";
    if (only_the_cpu(session)) {
        return said + no_device + "could take work over";
    }
    if (recorded != nullptr && what_if.op_offload == recorded->op_offload) {
        return said + "it was " + (*what_if.op_offload ? "on" : "off") + " when this was recorded";
    }
    if (recorded != nullptr && what_if.offload_min_batch == recorded->offload_min_batch) {
        return said + "it was recorded with " + std::to_string(*what_if.offload_min_batch);
    }
    const auto host = narrow<BackendId>(session.backends.size()) - 1;
    int64_t taken_over = 0, largest = -1; // the batch of nodes that read weights from host memory; −1: there is none
    plans.for_each([&](const OwnedGraph& graph, const PlanState& state) {
        for (const TensorState& tensor : state.tensors) {
            taken_over += tensor.cause == Cause::offload ? 1 : 0;
        }
        const auto is_host_weight = [&](TensorId source) {
            return source != no_tensor && graph.tensors[source].usage == BufferUsage::weights &&
                   state.tensors[source].backend == host;
        };
        for (const TensorId id : graph.nodes) {
            const TensorInfo& node = graph.tensors[id];
            if (std::any_of(node.src.begin(), node.src.end(), is_host_weight)) {
                largest = std::max(largest, offload_batch(node.op.value_or(Op::NONE), node.ne.value_or(Shape{})));
            }
        }
    });
    if (largest < 0) {
        return said + "no node reads weights from host memory";
    }
    if (taken_over > 0) {
        return said + "the same " + words::counted(taken_over, "node") + (taken_over == 1 ? " is" : " are") + " taken over";
    }
    if (largest == 0) {
        return said + "only lookups of rows read weights from host memory, and those are never taken over";
    }
    const int64_t least = recorded != nullptr ? recorded->offload_min_batch : 0;
    if (largest >= what_if.offload_min_batch.value_or(least)) {
        return said + "no device takes over a node that reads weights from host memory";
    }
    const std::string batch = "the largest batch of a node that reads weights from host memory is " + words::count(largest);
    return said + (what_if.offload_min_batch ? batch
                                             : "no device took a node over from the CPU: " + batch + ", " + words::count(least) +
                                                   " is the least that is worth it");
}

std::string of_fusion(const WhatIf& what_if, const PlanSettings* recorded) {
    const std::string word = *what_if.fusion ? "on" : "off", said = "fusion=" + word + ": ";
    return said + (recorded != nullptr && recorded->fusion == what_if.fusion
                       ? "it was " + word + " when this was recorded"
                       : "no tensor lies elsewhere for it; which nodes share a kernel is no decision of the plan");
}

} // namespace

std::vector<std::string> why_nothing_changed(const WhatIf& what_if, const std::shared_ptr<const RecordSource>& source) {
    Plans plans(source);
    std::vector<std::string> why;
    if (what_if.n_gpu_layers) {
        why.push_back(of_layers(what_if, plans.session()));
    }
    if (!what_if.overrides.empty()) {
        why.push_back(of_overrides(what_if, plans.session()));
    }
    if (!what_if.tensor_split.empty()) {
        why.push_back(of_shares(what_if, plans.session()));
    }
    if (what_if.cache_on_host) {
        why.push_back(of_cache(what_if, plans));
    }
    if (!what_if.device_order.empty()) {
        why.push_back(of_order(what_if, plans.session()));
    }
    for (const WhatIf::RefusedOp& refusal : what_if.refusals) {
        why.push_back(of_refusal(refusal, plans));
    }
    if (what_if.flash_attention) {
        why.push_back(of_flash_attention(what_if, plans));
    }
    if (what_if.fusion) {
        why.push_back(of_fusion(what_if, plans.settings()));
    }
    if (what_if.stages) {
        why.push_back(of_stages(what_if, plans));
    }
    if (what_if.op_offload) {
        WhatIf alone;
        alone.op_offload = what_if.op_offload;
        why.push_back(of_offload(alone, plans));
    }
    if (what_if.offload_min_batch) {
        WhatIf alone;
        alone.offload_min_batch = what_if.offload_min_batch;
        why.push_back(of_offload(alone, plans));
    }
    return why;
}

} // namespace schedscope
