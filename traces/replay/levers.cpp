#include "traces/replay/levers.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "traces/replay/what_if.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace schedscope {

namespace {

class LeverSearch {
public:
    LeverSearch(const RecordSource& source, EvaluationId evaluation, TensorId tensor)
        : source_(source), evaluation_(evaluation), tensor_(tensor), session_(source.session()) {}

    std::vector<Lever> run() {
        Step at = source_.next_of(source_.evaluation(evaluation_).first - 1, fact_bit<record::PlanBegin>());
        std::vector<Record> begin;
        if (at == no_step || (source_.read(at, at + 1, begin), begin.front().evaluation != evaluation_)) {
            return {};
        }
        graph_ = &source_.graph(std::get<record::PlanBegin>(begin.front().fact).graph);
        if (!is_index(tensor_, graph_->tensors)) {
            return {}; // a copy
        }
        if (session_.settings) {
            try_layers();
            try_weights();
            const bool on_host = session_.settings->placement.cache_on_host;
            try_setting(on_host ? "nkvo=off" : "nkvo=on", on_host ? "no -nkvo" : "-nkvo");
            if (const auto flash = session_.settings->flash_attention) {
                try_setting(*flash ? "fa=off" : "fa=on", *flash ? "-fa off" : "-fa on");
            }
        } else {
            try_memory();
            try_pin();
        }
        try_offload();
        return std::move(levers_);
    }

private:
    /// Where the tensor is with a change; none: where it was, or the change can't be tried on this trace.
    std::optional<std::string> backend_with(ReplayOptions options) const {
        options.only = evaluation_;
        options.max_differences = 0;
        try {
            const ReplayResult result = replay(source_, options);
            for (const TensorChange& change : result.comparisons.front().changes) {
                if (change.tensor == tensor_ && change.now_backend != change.recorded_backend && !change.now_backend.empty()) {
                    return change.now_backend;
                }
            }
        } catch (const Error&) { // as the graph with flash attention that was not kept
        }
        return std::nullopt;
    }
    std::optional<std::string> backend_with(const std::string& setting) const {
        WhatIf what_if;
        what_if.set(setting);
        try {
            return backend_with(options_for(what_if, source_));
        } catch (const Error&) {
            return std::nullopt;
        }
    }
    bool try_setting(const std::string& setting, const std::string& words) {
        const std::optional<std::string> backend = backend_with(setting);
        if (backend) {
            levers_.push_back({setting, words, *backend});
        }
        return backend.has_value();
    }

    /// A tensor is on another device from some number of layers on, or up to one.
    void try_layers() {
        const int32_t all = session_.settings->n_layers + 1;
        const int32_t now = std::clamp(session_.settings->placement.n_gpu_layers, 0, all);
        const auto with = [&](int32_t n) { return backend_with("ngl=" + std::to_string(n)); };
        for (const int32_t end : {all, 0}) {
            if (end == now || !with(end)) {
                continue;
            }
            int32_t does = end, does_not = now;
            while (std::abs(does - does_not) > 1) {
                const int32_t middle = (does + does_not) / 2;
                (with(middle) ? does : does_not) = middle;
            }
            const std::string n = std::to_string(does);
            try_setting("ngl=" + n, "-ngl " + n + (does == end ? "" : end == 0 ? " or less" : " or more"));
            return;
        }
    }

    /// Of the tensor itself, or that it reads.
    std::vector<TensorId> weights() const {
        std::vector<TensorId> found;
        const TensorInfo& t = graph_->tensors[tensor_];
        const auto add = [&](TensorId id) {
            if (id != no_tensor && graph_->tensors[id].usage == BufferUsage::weights) {
                found.push_back(id);
            }
        };
        add(tensor_);
        for (const TensorId source : t.src) {
            add(source);
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
    void try_weights() {
        const std::vector<TensorOverride>& recorded = session_.settings->placement.overrides;
        for (const TensorId weight : weights()) {
            for (const BackendInfo& backend : session_.backends) {
                const std::string text = exactly(graph_->tensors[weight].name) + "=" + backend.device;
                WhatIf what_if;
                try {
                    what_if.set("ot=" + text);
                    what_if.overrides.insert(what_if.overrides.end(), recorded.begin(), recorded.end());
                    if (const auto now = backend_with(options_for(what_if, source_))) {
                        levers_.push_back({recorded.empty() ? "ot=" + text : "", "-ot '" + text + "'", *now});
                        return;
                    }
                } catch (const Error&) { // no weight may lie there
                }
            }
        }
    }

    /// Of another program it is not known by which setting a weight got where it lies; but what follows from that is.
    void try_memory() {
        for (const TensorId weight : weights()) {
            for (const BackendInfo& backend : session_.backends) {
                const std::optional<BufferTypeId> memory = backend.default_buffer_type;
                if (!memory || *memory == graph_->tensors[weight].buffer_type) {
                    continue;
                }
                ReplayOptions options;
                options.change = [&](ReplayInput& in) { in.graph.tensors[weight].buffer_type = *memory; };
                if (const auto now = backend_with(options)) {
                    levers_.push_back({"",
                                       std::string(graph_->tensors[weight].name) + " in " +
                                           std::string(session_.buffer_types[*memory].name) +
                                           " memory (more or fewer layers there, or -ot)",
                                       *now});
                    return;
                }
            }
        }
    }

    void try_pin() {
        if (graph_->tensors[tensor_].user_backend == no_backend) {
            return;
        }
        ReplayOptions options;
        options.change = [&](ReplayInput& in) { in.graph.tensors[tensor_].user_backend = no_backend; };
        if (const auto now = backend_with(options)) {
            levers_.push_back({"", "no pin of the program's (llama.cpp pins norms to their layer's device)", *now});
        }
    }

    void try_offload() {
        const TensorInfo& t = graph_->tensors[tensor_];
        const int64_t batch = t.op && t.ne ? offload_batch(*t.op, *t.ne) : 0;
        if (batch < 1) {
            return;
        }
        const std::string n = std::to_string(batch);
        if (!try_setting("offload-min-batch=" + n, "--offload-min-batch " + n)) {
            try_setting("op-offload=off", "--no-op-offload");
        }
    }

    const RecordSource& source_;
    const EvaluationId evaluation_;
    const TensorId tensor_;
    const SessionInfo session_;
    const OwnedGraph* graph_ = nullptr;
    std::vector<Lever> levers_;
};

} // namespace

std::vector<Lever> levers_of(const RecordSource& source, EvaluationId evaluation, TensorId tensor) {
    return LeverSearch(source, evaluation, tensor).run();
}

std::vector<std::string> levers_in_words(const std::vector<Lever>& levers) {
    std::vector<std::string> lines, backends;
    for (const Lever& lever : levers) {
        const auto known = std::find(backends.begin(), backends.end(), lever.backend);
        if (known == backends.end()) {
            backends.push_back(lever.backend);
            lines.push_back("on " + lever.backend + " with " + lever.words);
        } else {
            lines[static_cast<size_t>(known - backends.begin())] += ", or " + lever.words;
        }
    }
    return lines;
}

} // namespace schedscope
