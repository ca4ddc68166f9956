#pragma once

#include "traces/attach/channel.h"
#include "traces/attach/ggml_copy.h"
#include "traces/attach/session.h"

/// The schedulers of the program, and what is known of each: one thread at a time uses a scheduler.
namespace schedscope::attach {

constexpr int most_src = 16; ///< of a tensor, in any ggml

/// A split of the last plan, in nodes of the graph.
struct SplitBounds {
    int first, end, backend; ///< backend: place in the scheduler; −1: it has views only
};
/// A copy that a split reads instead of a tensor.
struct InputCopy {
    const Tensor* copy;
    int tensor, split;
    bool moved;                ///< in the run that goes on: it was seen
    int64_t bytes, start, end; ///< of the parts that were sent so far, where only some experts are
};
/// One of several copies of a tensor, one a stage, of which a plan reads that of its own stage.
struct StageCopy {
    const Tensor* copy;
    int tensor, backend, stage; ///< backend: its number in the trace
};
/// A tensor of a graph as it was before the plan.
struct TensorBefore {
    Tensor* tensor;
    int n_src; ///< up to the last that is there; what lies behind is not set: most have one or two
    bool had_memory;
    const Tensor* src[most_src];
    const Tensor* source(int slot) const { return slot < n_src ? src[slot] : nullptr; }
};
/// A buffer that the allocator made, and the how manieth of its type it is.
struct Chunk {
    Buffer* buffer;
    BufferType* type;
    int number;
    int64_t round; ///< the allocator's call that made it: it makes all of a type again
};
/// The text of a word that many tensors share.
struct SharedWord {
    int number;
    uint32_t text;
};

/// What ggml planned last, in this scheduler.
struct Plan {
    Graph* graph = nullptr;
    Tensor** nodes = nullptr; ///< the graph's own list
    int64_t evaluation = -1;  ///< that planned it; −1: none
    bool sent = false, ran = false;
    int n_leafs = 0, n_nodes = 0, n_tokens = 0, n_outputs = 0;
    int stage = -1; ///< whose copies it reads; −1: there is one, or it is not known
    const char* kind = "other";
    PointerMap ids; ///< of tensors; copies behind them
    List<TensorBefore> tensors;
    List<SplitBounds> splits;
    List<InputCopy> copies;
    List<StageCopy> other_stages; ///< the copies of all stages but its own
    Block block;                  ///< all that is sent about it
    // While it is written down.
    List<int32_t> buffer_types;
    List<uint8_t> answers;
    List<SharedWord> operators, types;
    // While it runs, for those who watch.
    List<int8_t> watched;    ///< of each node: 0: not asked, 1: no, 2: yes
    int64_t watched_in = -1; ///< the evaluation that planned them
};

struct Scheduler {
    Sched* object;
    GgmlCopy* ggml;
    int number;        ///< in the trace, where each has one of its own
    size_t graph_size; ///< that it was made for
    int n_backends, op_offload;
    Backend* backends[most_sched_backends];
    BufferType* types[most_sched_backends]; ///< that it puts their tensors into
    int numbers[most_sched_backends];       ///< in the trace
    bool inert;
    bool adopted;       ///< it was there before the library was
    bool memory_unseen; ///< what its allocator planned then decides where tensors lie still
    uint32_t in_use;    ///< calls of the program that are being recorded
    Plan plan;
    List<Chunk> chunks;
    int64_t allocations;        ///< calls of the allocator that planned memory
    int64_t evaluation;         ///< that is not over; −1: none
    bool computes;              ///< since the program's call; still when that is over: an exception ended it
    Block run;                  ///< what ran in it, not sent yet
    int split;                  ///< that is being computed, or whose inputs are copied
    EvalCallback* own_callback; ///< that the program gave it
    void* own_data;
    uint64_t newest[2]; ///< the last call that plans, and the last that computes (OpenCall)
    bool own_wants;     ///< it wanted to see the node that is computed next
    Bytes values;       ///< of a tensor that is looked at

    int place_of(const Backend* backend) const; ///< −1: not among them
    int number_of(const Backend* backend) const {
        const int place = place_of(backend);
        return place < 0 ? -1 : numbers[place];
    }
};

/// A new one, of the program's own call. Null: it is not recorded, and the recorder knows why.
Scheduler* add_scheduler(GgmlCopy& ggml, Sched* object, BufferType* const* types, size_t graph_size, int op_offload);
/// A scheduler while a call of the program is recorded. Null: there is none by this name, it was given up, or the end has begun.
class UsedScheduler {
public:
    explicit UsedScheduler(const Sched* object); ///< null: none
    ~UsedScheduler();
    UsedScheduler(const UsedScheduler&) = delete;
    UsedScheduler& operator=(const UsedScheduler&) = delete;
    Scheduler* get() const { return scheduler_; }

private:
    const Recording recording_;
    Scheduler* scheduler_ = nullptr;
};
void remove_scheduler(const Sched* object);
void forget_schedulers();                        ///< all, and what was told of their copies of ggml; none is in use
Scheduler* known_scheduler(const Sched* object); ///< null: it is none of those that are recorded, or were
/// At the end of the process, when nothing more is recorded: the records that finish what no thread is at work on.
void end_all_evaluations(void (*send)(Block& block));
/// Something is not as it was thought to be: nothing more is recorded of this scheduler.
void give_up(Scheduler& scheduler, const char* why);

void end_evaluation(Scheduler& scheduler, int failed);
/// A callback looks at nodes while its splits run: they run in pieces.
int32_t is_observed(const Scheduler& scheduler);

} // namespace schedscope::attach
