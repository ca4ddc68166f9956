#include "runtime/planner/plan.h"

#include "runtime/numbers.h"
#include "runtime/planner/planning.h"

namespace schedscope {

namespace {

constexpr Pass planning_passes[] = {Pass::place,   Pass::gpu_down, Pass::gpu_up,  Pass::rest_down,
                                    Pass::rest_up, Pass::refine,   Pass::sources, Pass::split};

void run_pass(Planning& planning, Pass pass) {
    switch (pass) {
    case Pass::place: pass1_place(planning); break;
    case Pass::gpu_down:
    case Pass::gpu_up:
    case Pass::rest_down:
    case Pass::rest_up: pass2_expand(planning, pass); break;
    case Pass::refine: pass3_refine(planning); break;
    case Pass::sources: pass4_sources(planning); break;
    default: pass5_split(planning); break;
    }
}

void record_end(const Plan& plan, Recorder* recorder, std::string_view error) {
    if (recorder != nullptr) {
        recorder->add(record::PlanEnd{n_of(plan.splits), n_of(plan.copies), error.empty() ? 0 : recorder->intern(error)});
    }
}

} // namespace

int32_t Plan::find_copies(TensorId of, BackendId backend) const noexcept {
    return of < n_tensors ? copy_index[of * static_cast<size_t>(n_backends) + backend] : -1;
}

void record_alternatives(std::span<const PlanAlternative> alternatives, int32_t graph_id, Recorder& recorder) {
    for (const PlanAlternative& a : alternatives) {
        recorder.add(record::Alternative{a.graph_id < 0 ? graph_id : a.graph_id, recorder.intern(a.setting)});
    }
}

void make_plan(const GraphView& graph, const Capabilities& capabilities, const PlanOptions& options, Carry& carry, Plan& plan,
               Recorder* recorder, PassObserver* observer) {
    Planning planning(graph, capabilities, options, carry, plan, recorder);
    if (recorder != nullptr) {
        recorder->add(record::PlanBegin{options.graph_id, n_of(graph.nodes), n_of(graph.leafs), options.n_stages,
                                        options.current_stage, options.op_offload});
        record_alternatives(options.alternatives, options.graph_id, *recorder);
        for (const PlanNote& note : options.notes) {
            const TensorInfo& t = graph.tensors[note.tensor];
            recorder->add_in_burst(record::Pin{note.tensor, t.user_backend, t.buffer_type, recorder->intern(note.why)});
        }
    }
    try {
        for (const Pass pass : planning_passes) {
            planning.pass = pass;
            if (recorder != nullptr) {
                recorder->add(record::PassBegin{pass});
            }
            run_pass(planning, pass);
            if (recorder != nullptr) {
                recorder->add(record::PassEnd{pass});
            }
            if (observer != nullptr) {
                observer->after(pass, plan);
            }
        }
    } catch (const PlanError& error) {
        record_end(plan, recorder, error.what());
        throw;
    }
    record_end(plan, recorder, {});
}

} // namespace schedscope
