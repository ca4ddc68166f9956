#pragma once

#include "runtime/scheduler/expert_copy.h"
#include "runtime/scheduler/live_plan.h"

#include <deque>
#include <memory>
#include <vector>

namespace schedscope {

/// Runs a plan split by split. A backend is waited for only where a buffer that it uses may still be in use: before a copy
/// overwrites or reads one, and where the next split lies on another backend.
class Executor {
public:
    Executor(LiveDevices& devices, int n_stages);
    /// Starts the work; it is complete after `synchronize`.
    void run(LivePlan& live, Recorder* recorder);
    void synchronize(Recorder* recorder);
    void set_observer(NodeObserver* observer) noexcept { observer_ = observer; }
    NodeObserver* observer() const noexcept { return observer_; }
    /// After a failure, and at the end: waits for all that still runs, and forgets it.
    void abandon() noexcept;

private:
    struct Pending { ///< a split that was started; its records are written once its kernels' times are known
        int32_t split = 0;
        BackendId backend = no_backend;
        int64_t start_ns = 0;
        int64_t end_ns = 0;
        bool complete = false;
        bool timed = false;
        bool in_pieces = false; ///< each kernel's time is known as soon as its piece is done
        bool logs = false;      ///< the backend is asked for what runs
        KernelLog log;
    };
    struct StageEvent { ///< a stage's copies are read
        std::unique_ptr<Event> event;
        bool recorded = false; ///< since its backend was waited for
    };
    StageEvent* event(BackendId backend, int stage) noexcept; ///< null: it has none
    static void take_device_times(Pending& p) noexcept;
    void forget_queued(BackendId backend) noexcept; ///< it was waited for
    void wait(BackendId backend, int32_t split, Recorder* recorder);
    /// For what was queued on the backend until the event was recorded.
    void wait(StageEvent& read, BackendId backend, int32_t split, Recorder* recorder);
    void order_after(BackendId previous, BackendId next, int32_t split, Recorder* recorder);
    /// Of all other backends that can use the memory: what they were given is to be done before `next` goes on with it (`queued`:
    /// on its queue).
    void order_after_sharers(const BufferType& memory, BackendId next, int32_t split, bool queued, Recorder* recorder);
    void copy_input(LivePlan& live, int32_t index, TensorId input, Recorder* recorder);
    void compute(const SplitGraph& graph, int32_t first, int32_t count, Backend& backend, Pending* pending, Recorder* recorder);
    void run_split(LivePlan& live, int32_t index, Recorder* recorder);
    void run_pieces(LivePlan& live, const SplitGraph& graph, Backend& backend, Pending& pending, Recorder& recorder);
    void run_observed(LivePlan& live, const SplitGraph& graph, BackendId id, Pending* pending, Recorder* recorder);
    void record_leafs(LivePlan& live, Recorder& recorder);
    Pending& add_pending();
    std::shared_ptr<const KernelList> list_of(LivePlan& live, const Pending& pending, Recorder& recorder);
    void write_part(LivePlan& live, Pending& pending, Recorder& recorder);
    void write_complete(LivePlan& live, Recorder& recorder);

    LiveDevices& devices_;
    std::vector<std::vector<StageEvent>> events_; ///< [backend][stage]
    std::vector<std::unique_ptr<Event>> order_;   ///< [backend]: what was queued so far is done
    std::vector<uint8_t> busy_;                   ///< [backend]: work was queued since the last wait
    std::deque<Pending> pending_;                 ///< used again and again; a deque keeps the vectors' addresses
    size_t first_pending_ = 0, end_pending_ = 0;  ///< those of `pending_` that are started, in order of split
    std::vector<KernelSpan> spans_;               ///< of the part that is written
    ExpertScratch expert_scratch_;
    std::vector<uint8_t> entered_; ///< [backend]: this evaluation has a split on it
    LivePlan* running_ = nullptr;
    NodeObserver* observer_ = nullptr;
};

} // namespace schedscope
