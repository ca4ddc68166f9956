#pragma once

#include "runtime/planner/capability_table.h"
#include "tests/corpus/corpus_case.h"
#include "tests/support/traces/stream_recorder.h"
#include "traces/import/import_log.h"
#include "traces/replay/foreign/real_plan.h"
#include "traces/store/live_store.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace schedscope::test {

/// A stream as a program writes it whose scheduler somebody watches: graphs, answers, and what was decided.
class ForeignStream {
public:
    ForeignStream() : memory_(memfd_create("stream", MFD_CLOEXEC)) {
        sscp_open_fd(&stream_, memory_);
        recorder_.emplace(stream_, size_t{1} << 21);
        assign_ = recorder_->other_kind("real_assign tensor:i64 backend:i64");
        split_ = recorder_->other_kind("real_split index:i64 backend:i64 first_node:i64 end_node:i64");
        input_ = recorder_->other_kind("real_input split:i64 tensor:i64");
        source_ = recorder_->other_kind("real_source node:i64 source:i64 copy_of:i64 backend:i64 stage:i64");
        place_ = recorder_->other_kind("real_place tensor:i64 copy_of:i64 backend:i64 stage:i64 buffer_type:i64 chunk:i64 "
                                       "offset:i64 size:i64");
        keep_ = recorder_->other_kind("real_keep node:i64 tensor:i64");
        cause_ = recorder_->other_kind("real_cause tensor:i64 source:i64 cause:text");
    }
    ~ForeignStream() { close(memory_); }
    ForeignStream(const ForeignStream&) = delete;
    ForeignStream& operator=(const ForeignStream&) = delete;

    StreamRecorder& recorder() { return *recorder_; }

    struct Options {
        GraphKind kind = GraphKind::other;
        std::optional<int32_t> n_stages = 1, current_stage = 0;
        std::optional<bool> op_offload = true;
        std::vector<record::PlanBackend> backends;
    };
    /// An evaluation with one plan.
    void plan(const GraphView& graph, const CapabilityTable& answers, const RealPlan& real, const Options& options) {
        const int32_t number = n_plans_++;
        recorder_->graph(number, graph, answers);
        recorder_->set_evaluation(number);
        Recorder& facts = *recorder_;
        record::EvaluationBegin begin;
        begin.kind = options.kind;
        begin.planned_in = number;
        facts.add(begin);
        facts.add(
            record::PlanBegin{number, std::nullopt, std::nullopt, options.n_stages, options.current_stage, options.op_offload});
        for (const record::PlanBackend& backend : options.backends) {
            facts.add(backend);
        }
        put(real);
        facts.add(record::PlanEnd{});
        facts.add(record::EvaluationEnd{});
    }

    /// What a reader makes of it.
    std::shared_ptr<LiveStore> imported() {
        recorder_->flush();
        sscp_close(&stream_);
        auto store = std::make_shared<LiveStore>();
        import_file("/proc/self/fd/" + std::to_string(memory_), *store);
        return store;
    }

private:
    void put(const RealPlan& real) {
        for (const RealPlan::Assigned& a : real.assigned) {
            recorder_->put_other(assign_, {a.tensor, a.backend});
        }
        for (size_t i = 0; i < real.splits.size(); ++i) {
            const auto& [backend, first, end, inputs] = real.splits[i];
            recorder_->put_other(split_, {static_cast<int64_t>(i), backend, first, end});
            for (const TensorId input : inputs) {
                recorder_->put_other(input_, {static_cast<int64_t>(i), input});
            }
        }
        for (const RealPlan::Source& s : real.sources) {
            recorder_->put_other(source_, {s.node, s.slot, s.copy.of, s.copy.backend, s.copy.stage});
        }
        for (const RealPlan::Place& p : real.places) {
            recorder_->put_other(place_,
                                 {p.tensor, p.copy.of, p.copy.backend, p.copy.stage, p.buffer_type, p.chunk, p.offset, p.size});
        }
        for (const RealPlan::KeptAlive& k : real.kept) {
            recorder_->put_other(keep_, {k.node, k.tensor});
        }
        for (const RealPlan::Printed& c : real.causes) {
            const std::string word = c.cause == Cause::weight ? "1.wgt" : cause_name(c.cause, -1);
            recorder_->put_other(cause_, {c.tensor, c.source}, word);
        }
    }

    int memory_;
    sscp_stream stream_{};
    std::optional<StreamRecorder> recorder_;
    uint32_t assign_ = 0, split_ = 0, input_ = 0, source_ = 0, place_ = 0, keep_ = 0, cause_ = 0;
    int32_t n_plans_ = 0;
};

/// What ggml's scheduler decided in one round of a corpus case.
RealPlan real_plan_of(const corpus::Case& c, const corpus::Outcome& expected);
/// All rounds of a case that can be planned. `change`: what is done to a round's real plan before it is written.
std::shared_ptr<LiveStore> streamed_case(const corpus::Case& c,
                                         const std::function<void(int round, RealPlan& real)>& change = {});

} // namespace schedscope::test
