#include "viz/tables/copies.h"

#include "traces/history/accounts/time.h"

#include "traces/history/accounts/copies.h"
#include <algorithm>

namespace schedscope::tables {

using query::Field;

namespace {
bool is_untimed(const accounts::CopyRow& row) noexcept { return row.moved_bytes && !row.time_ns; }
} // namespace

std::span<const CopiesTable::Entry> CopiesTable::entries() {
    using T = const CopiesTable&;
    using R = const accounts::CopyRow&;
    static const Entry list[] = {
        {{.key = "id", .help = "the copy's number", .unit = Unit::number}, [](T, R r) -> Cell { return r.id; }},
        {{.key = "tensor", .title = "tensor", .help = "the original", .field = Field::name},
         [](T, R r) -> Cell { return r.tensor; }},
        {{.key = "from",
          .title = "from",
          .help = "the backend that the original lies on",
          .unit = Unit::backend,
          .from_width = 40,
          .field = Field::from},
         [](T t, R r) { return t.backend(r.from); }},
        {{.key = "to", .title = "to", .help = "the backend that needs it", .unit = Unit::backend, .field = Field::backend},
         [](T t, R r) { return t.backend(r.to); }},
        {{.key = "split",
          .title = "in",
          .help = "the split that it is an input of",
          .unit = Unit::number,
          .width = 2,
          .from_width = 40,
          .most = 5,
          .field = Field::split,
          .tone = Tone::quiet},
         [](T t, R r) { return t.if_told(Topic::passes, r.split); }},
        {{.key = "stage",
          .title = "stage",
          .help = "of the pipeline",
          .unit = Unit::number,
          .width = 5,
          .from_width = 58,
          .tone = Tone::quiet},
         [](T, R r) { return Cell::known(r.stage); }},
        {{.key = "bytes",
          .title = "bytes",
          .help = "all that the original holds",
          .unit = Unit::bytes,
          .width = 8,
          .field = Field::bytes},
         [](T, R r) { return Cell::of_sum(r.size); }},
        {{.key = "moved_bytes",
          .title = "moved",
          .help = "in this evaluation: less where only some experts were",
          .unit = Unit::bytes,
          .width = 8,
          .from_width = 116},
         [](T t, R r) { return t.if_told(Topic::runs, r.moved_bytes); }},
        {{.title = "at",
          .help = "when it was moved, from the beginning of the evaluation",
          .unit = Unit::time,
          .width = 8,
          .from_width = 76,
          .tone = Tone::quiet},
         [](T t, R r) { return t.if_told(Topic::runs, r.start_ns < 0 ? Cell() : Cell(r.start_ns - t.begin_ns())); }},
        {{.key = "time_ns",
          .title = "time",
          .help = "that moving it took in this evaluation",
          .unit = Unit::time,
          .width = 8,
          .from_width = 54,
          .field = Field::time},
         [](T t, R r) { return t.if_told(Topic::runs, is_untimed(r) ? Cell::nothing(not_timed_text) : Cell(r.time_ns)); }},
        {{.key = "times",
          .title = "count",
          .help = "how often it was moved in the recorded runs of its plan up to this step",
          .unit = Unit::count,
          .width = 6,
          .from_width = 66},
         [](T t, R r) {
             const int64_t times = t.moved(r.id).times;
             return t.if_told(Topic::runs, times == 0 ? Cell() : Cell(times));
         }},
        {{.key = "bytes_in_all",
          .title = "in all",
          .help = "bytes moved in the recorded runs of its plan up to this step",
          .unit = Unit::bytes,
          .width = 9,
          .from_width = 88,
          .tone = Tone::quiet},
         [](T t, R r) {
             const TransferCount::Sum sum = t.moved(r.id);
             return t.if_told(Topic::runs, sum.times == 0 ? Cell() : Cell(sum.bytes));
         }},
        {{.key = "experts",
          .title = "experts",
          .help = "how many of the experts were moved",
          .unit = Unit::number,
          .width = 7,
          .from_width = 128},
         [](T, R r) -> Cell { return r.experts; }},
        {{.key = "experts_total",
          .title = "of",
          .help = "how many experts there are",
          .unit = Unit::number,
          .width = 4,
          .from_width = 128},
         [](T, R r) -> Cell { return r.experts_total; }},
        {{.key = "first_read_by",
          .title = "first read by",
          .help = "the first node that needs it",
          .width = 14,
          .from_width = 104,
          .most = 30,
          .tone = Tone::quiet},
         [](T t, R r) { return t.if_told(Topic::passes, t.name(t.reader_of(r))); }},
    };
    return list;
}

CopiesTable::CopiesTable(History& history) : PlanTable("copies", history) {}

void CopiesTable::update(const PlanState& state) {
    look_at(state);
    when_empty_ = state.planned ? "no copies: every split can use what it reads where it lies" : "no copy yet: pass 5 makes them";
    count_.update(history().source(), state.step);
    begin_ns_ = accounts::time_extent(history(), state).begin_ns;
    rows_ = history().graph_of(state) == nullptr ? std::vector<accounts::CopyRow>() : accounts::copies(history(), state);
    const bool exact = std::all_of(rows_.begin(), rows_.end(), [](const accounts::CopyRow& row) { return row.size.is_exact(); });
    columns_[column_of(*this, "bytes")].width = exact ? 8 : 11;
    make_room_for_untimed(std::any_of(rows_.begin(), rows_.end(), is_untimed));
}

TensorId CopiesTable::reader_of(const accounts::CopyRow& copy) const {
    if (!copy.split || !is_index(*copy.split, state().splits)) {
        return no_tensor;
    }
    const auto& inputs = state().splits[*copy.split].inputs;
    const auto input =
        std::find_if(inputs.begin(), inputs.end(), [&](const record::SplitInput& i) { return i.tensor == copy.of; });
    return input == inputs.end() ? no_tensor : or_none(input->node);
}

void TransferCount::update(const RecordSource& source, Step step) {
    source.for_each_of(fact_bit<record::Transfer>(), counted_ + 1, step + 1, [&](const Record& record) {
        const auto& f = std::get<record::Transfer>(record.fact);
        std::vector<Moved>& moved = moved_[{source.evaluation(record.evaluation).begin.planned_in, f.copy}];
        Sum sum = moved.empty() ? Sum{} : moved.back().until;
        ++sum.times;
        sum.bytes += std::max<int64_t>(f.bytes, 0);
        sum.time_ns = accounts::sum_of(sum.time_ns, accounts::moving_time(f));
        moved.push_back({record.step, sum});
    });
    counted_ = std::max(counted_, step);
}

TransferCount::Sum TransferCount::of(const PlanState& state, TensorId copy) const {
    const auto found = moved_.find({state.planned_in, copy});
    if (found == moved_.end()) {
        return {};
    }
    const std::vector<Moved>& moved = found->second;
    const auto behind =
        std::upper_bound(moved.begin(), moved.end(), state.step, [](Step step, const Moved& m) { return step < m.step; });
    return behind == moved.begin() ? Sum{} : std::prev(behind)->until;
}

} // namespace schedscope::tables
