#pragma once

#include "runtime/planner/plan.h"
#include "runtime/planner/recorder.h"

#include <array>
#include <bit>
#include <map>

/// Private to the planner: what the passes share while one plan is made.
namespace schedscope {

/// Bit N: the tensor has a source N. Holes stay holes.
inline uint16_t source_mask(const std::array<TensorId, max_sources>& src) noexcept {
    int32_t mask = 0;
    for (size_t i = 0; i < max_sources; ++i) {
        mask |= src[i] < 0 ? 0 : 1 << i; // constants, so that the compiler can do it four sources at a time
    }
    return static_cast<uint16_t>(mask);
}

inline int64_t bytes_of(const TensorInfo& t) noexcept { return n_bytes(t); }

/// Calls `f(N)` for each set bit N, lowest first.
template <typename F> void for_each_bit(uint16_t mask, F&& f) {
    for (unsigned m = mask; m != 0; m &= m - 1) {
        f(std::countr_zero(m));
    }
}

class Planning {
public:
    Planning(const GraphView& graph, const Capabilities& capabilities, const PlanOptions& options, Carry& carry, Plan& plan,
             Recorder* recorder);

    const GraphView& graph;
    const Capabilities& capabilities;
    const PlanOptions& options;
    Carry& carry;
    PlanScratch& scratch;
    Plan& plan;
    Recorder* const recorder;
    const int n_backends;
    const BackendId last;   ///< the CPU
    Pass pass = Pass::none; ///< for the records

    const TensorInfo& tensor(TensorId id) const noexcept { return graph.tensors[id]; }
    BackendId backend_of(TensorId id) const noexcept { return plan.assignments[id].backend; }
    uint16_t sources_of(TensorId id) const noexcept { return plan.source_masks[id]; }
    /// Type of the buffer that the tensor lies in, a view in its source's; none: not allocated before planning.
    BufferTypeId home_of(TensorId id) const noexcept { return scratch.home[id]; }
    BufferTypeId default_type(BackendId backend) const noexcept { return scratch.default_type[backend]; }

    /// The questions that backends answer, recorded. `decided` is the tensor that the decision is for.
    bool supports_op(BackendId backend, TensorId decided) {
        const Answer answer = capabilities.supports_op(backend, decided);
        if (answer.reason == Refusal::not_asked) {
            refuse_unasked(backend, decided);
        }
        if (recorder != nullptr) {
            record_query(Question::op, answer, backend, no_buffer_type, decided);
        }
        return answer.yes;
    }
    bool can_use(BackendId backend, BufferTypeId type, TensorId decided) {
        const bool yes = scratch.usable[type * static_cast<size_t>(n_backends) + backend] != 0;
        if (recorder != nullptr) {
            record_query(Question::buffer_type, yes ? Answer{} : Answer::no(Refusal::memory, "cannot use this kind of memory"),
                         backend, type, decided);
        }
        return yes;
    }
    bool wants_offload(BackendId backend, TensorId decided);

    /// The memory of `source` can be used by `backend`: the memory that it lies in, or will lie in where it is assigned to now.
    bool readable(TensorId source, BackendId backend, TensorId decided) {
        BufferTypeId type = home_of(source);
        if (type == no_buffer_type) {
            BackendId at = backend_of(source);
            if (at == no_backend && tensor(source).is_view()) {
                at = backend_of(tensor(source).view_source);
            }
            if (at == no_backend) {
                return false;
            }
            type = default_type(at);
        }
        return can_use(backend, type, decided);
    }

    /// Writes a mark; `backend` may be none.
    void assign(TensorId id, BackendId backend, Cause cause, int source = -1, TensorId by = no_tensor) {
        Assignment& a = plan.assignments[id];
        const BackendId before = a.backend;
        a = {backend, cause, static_cast<int8_t>(source)};
        if (recorder != nullptr) {
            record_assign(id, before, by);
        }
    }
    void record_assign(TensorId id, BackendId before, TensorId by);
    template <typename F> void record(const F& fact) {
        if (recorder != nullptr) {
            recorder->add_in_burst(fact);
        }
    }

    /// Names for error sentences.
    std::string name(TensorId id) const; ///< 'kq-0' (MUL_MAT)
    std::string buffer_type_name(BufferTypeId type) const;
    std::string backend_name(BackendId backend) const;

private:
    void describe_tensors();
    void describe_backends();
    [[noreturn]] void refuse_unasked(BackendId backend, TensorId decided) const;
    void record_query(Question question, const Answer& answer, BackendId backend, BufferTypeId type, TensorId decided);
    StringId detail(std::string_view text);
    std::string why_not_offloaded(int64_t batch) const;
    StringId offload_detail(TensorId decided);

    struct Detail {
        const char* data = nullptr;
        size_t size = 0;
        StringId id = 0;
    };
    std::array<Detail, 16> details_{};            ///< refusals repeat; interning hashes the text each time
    std::map<int64_t, StringId> offload_details_; ///< by batch, which alone the text depends on
};

void pass1_place(Planning& planning);
void pass2_expand(Planning& planning, Pass sweep);
void pass3_refine(Planning& planning);
void pass4_sources(Planning& planning);
void pass5_split(Planning& planning);

} // namespace schedscope
