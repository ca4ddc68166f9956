#pragma once

#include "runtime/planner/recorder.h"
#include "traces/store/record_source.h"
#include "traces/store/sqlite.h"

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

namespace schedscope {

/// Reads the rows of `split_run` through one connection to a trace: of each, the records of its kernels and of its split. Each
/// number is checked against what it may be alone. Throws Damage or sqlite::Failure.
class SplitRows {
public:
    static constexpr FactSet kinds = fact_set<record::Execute, record::SplitRun>();

    explicit SplitRows(sqlite::Database& database) : database_(database) {} ///< which outlives this

    /// Calls f(record) for each record of these kinds, of the steps [first, end).
    template <typename F> void for_each(Step first, Step end, FactSet wanted, F&& f) {
        begin(first);
        for (Row row; next(row) && row.part.step < end;) {
            const auto n_kernels = static_cast<Step>(row.part.part.times.size());
            const Step until = (wanted & fact_bit<record::Execute>()) != 0 ? std::min(n_kernels, end - row.part.step) : 0;
            for (Step i = std::max<Step>(first - row.part.step, 0); i < until; ++i) {
                f(row.part.kernel(static_cast<int32_t>(i)));
            }
            if (row.part.part.last && (wanted & fact_bit<record::SplitRun>()) != 0 && row.part.step + n_kernels < end) {
                f(row.part.split_run(row.untimed));
            }
        }
    }
    /// The list of a number.
    std::shared_ptr<const KernelList> list(KernelListId id);
    /// The next or previous record of a kind, from `from` exclusive; no_step: none.
    Step extreme(Step from, bool kernels, bool forward);
    int64_t count(bool kernels);

private:
    struct Row {
        PartRecord part;
        KernelListId untimed = 0; ///< the list of its kernels, where they have no times
    };
    void begin(Step first);
    bool next(Row& row);

    sqlite::Database& database_;
    sqlite::Statement rows_, kernels_;
    std::array<std::array<sqlite::Statement, 2>, 2> extremes_; ///< [kernels][forward]
    std::vector<KernelSpan> times_;                            ///< of the row that was read last
    std::unordered_map<KernelListId, std::shared_ptr<const KernelList>> lists_;
    size_t n_kernels_ = 0; ///< in them
};

} // namespace schedscope
