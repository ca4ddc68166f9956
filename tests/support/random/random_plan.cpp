#include "tests/support/random/random_plan.h"

#include "runtime/scheduler/live_graph.h"
#include "tests/support/graphs/lifetime_check.h"
#include "tests/support/graphs/sketch.h"
#include "tests/support/random/machine.h"
#include "tests/support/random/random_graph.h"
#include "tests/support/random/records_check.h"

#include <map>

namespace schedscope::test {

namespace {

class Observer final : public PassObserver {
public:
    explicit Observer(const Notebook& records) : records_(records) {}
    void after(Pass pass, const Plan& plan) override {
        snapshots.push_back(
            {pass, records_.records.size(), {plan.assignments.begin(), plan.assignments.begin() + plan.n_tensors}});
    }
    std::vector<Snapshot> snapshots;

private:
    const Notebook& records_;
};

class Sequence {
public:
    explicit Sequence(uint32_t seed) : random_(seed), machine_(seed), model_(seed, any_steps()), devices_(machine_.backends()) {
        model_.give_memory([this]() -> const BufferType& { return random_memory(); });
        options_.n_stages = below(3) == 0 ? 4 : 1;
        options_.op_offload = below(4) != 0;
        options_.session = &devices_.session();
        min_batch_ = 1 + static_cast<int64_t>(below(12));
    }

    PlanOutcome run() {
        const RandomShape first = random_shape();
        const int n = 1 + static_cast<int>(below(4));
        for (int i = 0; i < n && outcome_.complaint.empty(); ++i) {
            plan(below(2) == 0 ? first : random_shape());
        }
        if (!outcome_.complaint.empty()) {
            outcome_.complaint += "\n  on " + machine_.description() + "; stages " + std::to_string(options_.n_stages);
        }
        return outcome_;
    }

private:
    size_t below(size_t n) { return random_() % n; }
    const BufferType& random_memory() { return *machine_.memories()[below(machine_.memories().size())]; }
    RandomShape random_shape() {
        return {static_cast<uint32_t>(random_()), 5 + static_cast<int>(below(40)), 1 + static_cast<int64_t>(below(8))};
    }

    void plan(const RandomShape& shape) {
        Graph graph;
        build(graph, model_, shape);
        pin_some(graph, machine_, random_);
        OwnedGraph info;
        describe(graph, devices_, info);
        const GraphView view = info.view();
        CapabilityTable answers;
        fill_table(answers, devices_.session(), LiveCapabilities(devices_, graph.tensors(), min_batch_),
                   static_cast<int32_t>(info.tensors.size()));
        Notebook notebook;
        Observer observer(notebook);
        options_.current_stage = n_plans_++ % options_.n_stages;
        const MemoryPlan* memory = nullptr;
        try {
            make_plan(view, answers, options_, carry_, plan_, &notebook, &observer);
            copy_graph(view, plan_, info.nodes, allocated_);
            memory = &planner_.place(view, plan_, info.nodes, answers, devices_.session().buffer_types, &notebook);
        } catch (const PlanError& error) {
            ++outcome_.n_refused;
            if (std::string(error.what()).empty()) {
                outcome_.complaint = "refused without a word";
            }
            return;
        }
        const PlanView whole{view, answers, plan_, *memory};
        if (writes_out_of_reach(whole)) {
            ++outcome_.n_refused;
            return;
        }
        count(*memory);
        for (std::string wrong : {check_support(whole), check_splits(whole), check_copies(whole), check_stages(whole),
                                  check_records(whole, observer.snapshots, notebook.records),
                                  test::LifetimeCheck(view, plan_, allocated_).complaint(*memory), check_stays(shape, whole)}) {
            if (!wrong.empty() && outcome_.complaint.empty()) {
                outcome_.complaint = "plan " + std::to_string(n_plans_) + ": " + wrong;
            }
        }
    }

    void count(const MemoryPlan& memory) {
        ++outcome_.n_plans;
        outcome_.n_splits += static_cast<int>(plan_.splits.size());
        outcome_.n_copies += static_cast<int>(plan_.copies.size());
        outcome_.n_reused += memory.replanned ? 0 : 1;
        outcome_.n_staged += options_.n_stages > 1 ? 1 : 0;
    }

    /// As long as nothing is planned again, the copies of a stage stay where they are: an evaluation in flight may still read
    /// them.
    std::string check_stays(const RandomShape& shape, const PlanView& view) {
        if (view.memory.replanned) {
            stays_.clear();
        }
        for (const Copy& copy : plan_.copies) {
            for (const PlacedTensor& t : view.memory.tensors) {
                if (t.tensor == copy.id && options_.n_stages > 1) {
                    const Place place{t.buffer_type, t.chunk, t.offset};
                    const auto [at, added] = stays_.try_emplace({shape.seed, copy.of, copy.backend, copy.stage}, place);
                    if (!added && at->second != place) {
                        return view.name(copy.id) + " moved while another stage may need it";
                    }
                }
            }
        }
        return "";
    }

    using Place = std::tuple<BufferTypeId, int16_t, int64_t>;
    std::mt19937 random_;
    Machine machine_;
    RandomModel model_;
    LiveDevices devices_;
    PlanOptions options_;
    int64_t min_batch_ = 1;
    int n_plans_ = 0;
    Carry carry_;
    Plan plan_;
    AllocatedGraph allocated_;
    MemoryPlanner planner_;
    std::map<std::tuple<uint32_t, TensorId, BackendId, int>, Place> stays_;
    PlanOutcome outcome_;
};

} // namespace

PlanOutcome plan_randomly(uint32_t seed) { return Sequence(seed).run(); }

} // namespace schedscope::test
