#pragma once

#include "runtime/planner/capability_table.h"
#include "runtime/planner/records.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace schedscope {

/// A set of record kinds: bit N stands for the Nth alternative of Fact.
using FactSet = uint64_t;
static_assert(std::variant_size_v<Fact> <= 64);
template <typename T> constexpr FactSet fact_bit() noexcept { return FactSet{1} << Fact(T{}).index(); }
template <typename... T> constexpr FactSet fact_set() noexcept { return (fact_bit<T>() | ...); }
inline FactSet fact_bit(const Fact& fact) noexcept { return FactSet{1} << fact.index(); }

constexpr FactSet every_fact = ~FactSet{0} >> (64 - std::variant_size_v<Fact>);

/// What is wanted of records: some kinds of them, or only which tensors and places they name. Of `names_only` records the step is
/// right and each field of 32 bits that names or counts tensors, nodes and graphs; the others may be as a new record has them.
struct Wanted {
    FactSet kinds = every_fact;
    bool names_only = false;
};

/// Where one evaluation's records lie.
struct EvaluationSpan {
    EvaluationId id = 0;
    Step first = 0, end = 0; ///< [first, end)
    record::EvaluationBegin begin;
    bool complete = false; ///< its end was recorded
};

/// What a reader needs of a trace, wherever it lies: a file (TraceReader) or a running program (LiveStore). Thread-safe. Texts
/// and graphs once returned stay valid as long as the source. Throws Error(input) on a read error.
///
/// Also of a changed file: what counts (bytes, operations, uses) is at most 2^50, other wide numbers (times) lie between −2^61
/// and 2^61. A difference of two times, and a sum of some thousand counts, can be computed in 64 bits without a check.
class RecordSource {
public:
    virtual ~RecordSource() = default;
    virtual SessionInfo session() const = 0;
    virtual Step n_steps() const = 0; ///< grows in a live source
    virtual int n_evaluations() const = 0;
    virtual EvaluationSpan evaluation(EvaluationId id) const = 0;
    /// Records [first, end) appended to `out`, in order of step.
    virtual void read(Step first, Step end, std::vector<Record>& out) const = 0;
    /// Those of them that are wanted; costs no more than they do where the source can leave out the rest.
    virtual void read_wanted(Step first, Step end, Wanted wanted, std::vector<Record>& out) const;
    virtual int n_graphs() const = 0;
    virtual const OwnedGraph& graph(GraphId id) const = 0;
    virtual const CapabilityTable& answers(GraphId id) const = 0; ///< every capability answer about that graph
    virtual std::string_view text(StringId id) const = 0;
    /// What record::SplitRun names: kernels that ran without a time of their own. Of none: empty.
    virtual const KernelList& kernels(KernelListId id) const = 0;

    /// Calls f(record) for each of [first, end); stops when f returns false, if it returns something.
    template <typename F> void for_each(Step first, Step end, F&& f) const {
        for_each_of(every_fact, first, end, std::forward<F>(f));
    }
    /// The same for records of some kinds.
    template <typename F> void for_each_of(FactSet kinds, Step first, Step end, F&& f) const {
        const Step together = kinds == every_fact ? at_once : few_at_once;
        std::vector<Record> records;
        for (; first < end; first += together) {
            records.clear();
            read_wanted(first, std::min(first + together, end), {kinds}, records);
            for (const Record& record : records) {
                if constexpr (std::is_void_v<std::invoke_result_t<F&, const Record&>>) {
                    f(record);
                } else if (!f(record)) {
                    return;
                }
            }
        }
    }

    /// The next or previous record of one of these kinds, from `from` exclusive; no_step: none. Looks at each record unless the
    /// source knows better.
    virtual Step next_of(Step from, FactSet kinds) const;
    virtual Step previous_of(Step from, FactSet kinds) const;

    /// How many records of these kinds there are, and how many evaluations ended with an error. They look at each record unless
    /// the source knows better.
    virtual int64_t count(FactSet kinds) const;
    virtual int64_t count_failed() const;

protected:
    static constexpr Step at_once = 4096;      ///< records read together where all are looked at
    static constexpr Step few_at_once = 65536; ///< where most are passed over
};

} // namespace schedscope
