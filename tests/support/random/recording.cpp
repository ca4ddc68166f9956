#include "tests/support/random/recording.h"

#include "runtime/planner/memory/allocate.h"
#include "runtime/scheduler/live_graph.h"
#include "tests/support/random/machine.h"
#include "tests/support/random/random_graph.h"

#include <algorithm>

namespace schedscope::test {

namespace {

/// Memory that no backend can use any more becomes the CPU's, as a loader would place it.
const BufferType& usable(const BufferType& wanted, const Machine& machine) {
    const bool used = std::any_of(machine.backends().begin(), machine.backends().end(),
                                  [&](const auto& backend) { return backend->device().supports_buffer_type(wanted); });
    return used ? wanted : machine.host();
}

/// Pins by the numbers of the seed's machine, whatever became of its backends since.
void pin_as_before(const Graph& graph, const Machine& before, const Machine& now, std::mt19937& random) {
    pin_some(graph, before, random);
    for (Tensor* node : graph.nodes()) {
        if (node->pinned >= 0) {
            const std::string_view name = before.backends()[static_cast<size_t>(node->pinned)]->name();
            const auto at = std::find_if(now.backends().begin(), now.backends().end(),
                                         [&](const auto& backend) { return backend->name() == name; });
            node->pinned = static_cast<int16_t>(
                std::min<std::ptrdiff_t>(at - now.backends().begin(), static_cast<std::ptrdiff_t>(now.backends().size()) - 1));
        }
    }
}

} // namespace

void record_randomly(uint32_t seed, const RecordingSettings& settings, Recorder& recorder) {
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    Machine before(seed), machine(seed);
    machine.all_offer_offload();
    if (settings.refuse) {
        machine.refuse(settings.refuse->first, settings.refuse->second);
    }
    if (settings.devices) {
        machine.select(*settings.devices);
    }
    RandomModel model(seed, any_steps());
    model.give_memory(
        [&]() -> const BufferType& { return usable(*machine.memories()[below(machine.memories().size())], machine); });
    LiveDevices devices(machine.backends());
    for (const auto& memory : machine.memories()) {
        devices.id_of(*memory); // known from the beginning, so that one session is true for all graphs
    }
    recorder.session(devices.session());

    PlanOptions options;
    options.session = &devices.session();
    options.n_stages = settings.stages.value_or(below(3) == 0 ? 4 : 1);
    options.op_offload = settings.op_offload.value_or(below(4) != 0);
    options.offload_min_batch = settings.min_batch.value_or(1 + static_cast<int64_t>(below(12)));
    Carry carry;
    Plan plan;
    MemoryPlanner planner;
    const int n = 1 + static_cast<int>(below(3));
    for (int i = 0; i < n; ++i) {
        Graph graph;
        build(graph, model,
              {static_cast<uint32_t>(random()), 5 + static_cast<int>(below(25)), 1 + static_cast<int64_t>(below(8))});
        pin_as_before(graph, before, machine, random);
        OwnedGraph info;
        describe(graph, devices, info);
        CapabilityTable answers;
        fill_table(answers, devices.session(), LiveCapabilities(devices, graph.tensors(), options.offload_min_batch),
                   static_cast<int32_t>(info.tensors.size()));

        recorder.set_evaluation(i);
        record::EvaluationBegin begin;
        begin.planned_in = i;
        recorder.add(begin);
        recorder.graph(i, info.view(), answers);
        options.graph_id = i;
        options.current_stage = i % options.n_stages;
        record::EvaluationEnd end;
        try {
            make_plan(info.view(), answers, options, carry, plan, &recorder);
            planner.place(info.view(), plan, info.nodes, answers, devices.session().buffer_types, &recorder);
        } catch (const PlanError& error) {
            end.failed = true;
            end.error = recorder.intern(error.what());
        }
        recorder.add(end);
    }
}

MachineNames names_of_machine(uint32_t seed) {
    const Machine machine(seed);
    MachineNames names;
    for (const auto& backend : machine.backends()) {
        names.backends.emplace_back(backend->name());
        if (backend->name() == backend->device().name()) {
            names.devices.emplace_back(backend->name());
        }
    }
    return names;
}

} // namespace schedscope::test
