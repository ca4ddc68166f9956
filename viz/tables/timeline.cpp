#include "viz/tables/timeline.h"

#include "runtime/system/number_words.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>

namespace schedscope::tables {

using query::Field;

namespace {
std::string nothing_yet(const History& history, EvaluationId evaluation) {
    const bool reserves = evaluation >= 0 && evaluation < history.n_evaluations() &&
                          history.evaluation(evaluation).begin.kind == GraphKind::reserve;
    return nothing_ran(history.session(),
                       reserves ? "evaluation " + std::to_string(evaluation) + " does not run: memory was reserved for its graph"
                                : "nothing of this evaluation has run up to this step");
}
} // namespace

std::span<const TimelineTable::Entry> TimelineTable::entries() {
    using T = const TimelineTable&;
    using R = const TimelineItem&;
    const static auto if_timed = [](R r, int64_t ns) { return r.timed ? Cell(ns) : Cell::nothing(not_timed_text); };
    static const Entry list[] = {
        {{.title = "at",
          .help = "when it began, from the beginning of the evaluation",
          .unit = Unit::time,
          .width = 8,
          .from_width = 40,
          .tone = Tone::quiet},
         [](T t, R r) { return if_timed(r, r.start - t.extent().begin_ns); }},
        {{.key = "start_ns", .help = "when it began, from the beginning of the trace", .unit = Unit::time},
         [](T, R r) { return if_timed(r, r.start); }},
        {{.key = "end_ns", .help = "when it ended", .unit = Unit::time}, [](T, R r) { return if_timed(r, r.end); }},
        {{.key = "time_ns", .title = "took", .help = "its time", .unit = Unit::time, .width = 8, .field = Field::time},
         [](T, R r) { return r.took() ? Cell(*r.took()) : Cell::nothing(not_timed_text); }},
        {{.key = "backend",
          .title = "backend",
          .help = "that did it; of a copy, the one that it went to",
          .unit = Unit::backend,
          .field = Field::backend},
         [](T t, R r) { return t.backend(r.backend); }},
        {{.key = "kernel",
          .title = "kernel",
          .help = "what ran; a copy to it, or that it was waited for",
          .width = 14,
          .most = 34,
          .field = Field::kernel},
         [](T t, R r) -> Cell { return t.what(r); }},
        {{.key = "node", .title = "name", .help = "the tensor that was written", .from_width = 56, .field = Field::name},
         [](T t, R r) { return t.name(r.tensor); }},
        {{.key = "id", .help = "that tensor's number", .unit = Unit::number}, [](T, R r) { return Cell::from_zero(r.tensor); }},
        {{.key = "nodes", .title = "nodes", .help = "how many ran in it", .unit = Unit::number, .width = 5, .from_width = 130},
         [](T, R r) { return r.count > 0 ? Cell(r.count) : Cell(); }},
        {{.key = "split",
          .title = "split",
          .help = "that it is a part of",
          .unit = Unit::number,
          .width = 5,
          .from_width = 84,
          .field = Field::split,
          .tone = Tone::quiet},
         [](T, R r) { return Cell::from_zero(r.split); }},
        {{.key = "bytes",
          .title = "bytes",
          .help = "that it read and wrote",
          .unit = Unit::bytes,
          .width = 9,
          .from_width = 92,
          .field = Field::bytes,
          .tone = Tone::quiet},
         [](T, R r) -> Cell { return r.bytes; }},
        {{.key = "flops", .help = "operations on floats", .unit = Unit::count}, [](T, R r) -> Cell { return r.flops; }},
        {{.title = "GFLOP/s", .help = "operations on floats, a nanosecond", .unit = Unit::rough, .width = 8, .from_width = 140},
         [](T, R r) {
             return r.timed && r.end > r.start && r.flops.value_or(0) > 0 ? Cell(to_double(*r.flops) / to_double(r.end - r.start))
                                                                          : Cell();
         }},
        {{.key = "device_time", .help = "was it the device's clock"},
         [](T, R r) { return r.timed ? Cell(r.device_time) : Cell(); }},
        {{.title = "clock", .help = "whose clock it was", .width = 6, .from_width = 150, .tone = Tone::quiet},
         [](T, R r) { return !r.timed ? Cell() : Cell(r.device_time ? "device" : "host"); }},
        {{.key = "share",
          .title = "share",
          .help = "of the evaluation's time",
          .unit = Unit::percent,
          .width = 6,
          .from_width = 100,
          .tone = Tone::quiet},
         [](T t, R r) { return r.took() ? Cell(t.extent().percent(*r.took())) : Cell(); }},
    };
    return list;
}

TimelineTable::TimelineTable(History& history, Shows shows) : PlanTable("kernels", history), shows_(shows) {}

void TimelineTable::update(const PlanState& state) {
    look_at(state);
    const std::string untimed = accounts::untimed_splits(history(), state);
    say_when_empty(Topic::runs, "what ran and when", untimed.empty() ? nothing_yet(history(), state.evaluation) : untimed);
    rows_.clear();
    const auto add_kernel = [&](const record::Execute& e, bool timed) {
        rows_.push_back({TimelineItem::Kind::kernel, e.backend, e.last, e.kernel, e.split, e.count, 0, e.device_time, e.bytes,
                         e.flops, e.start_ns, e.end_ns, timed});
    };
    for (const record::Execute& e : state.executed) {
        add_kernel(e, true);
    }
    if (shows_ != Shows::timeline) {
        for (const record::Execute& e : history().untimed_kernels(state)) {
            add_kernel(e, false);
        }
        std::stable_sort(rows_.begin(), rows_.end(),
                         [](const TimelineItem& a, const TimelineItem& b) { return a.split < b.split; });
    }
    if (shows_ != Shows::kernels) {
        for (const SplitState* whole : accounts::splits_as_a_whole(state)) {
            const SplitState& s = *whole;
            if (s.start_ns && s.end_ns) {
                rows_.push_back({TimelineItem::Kind::kernel,
                                 s.backend(),
                                 no_tensor,
                                 0,
                                 s.begin.index,
                                 0,
                                 0,
                                 false,
                                 {},
                                 {},
                                 *s.start_ns,
                                 *s.end_ns});
            }
        }
        for (const record::Transfer& t : state.transfers) {
            TimelineItem& row = rows_.emplace_back();
            row = {.kind = TimelineItem::Kind::transfer, .backend = t.to, .tensor = t.copy, .split = t.split, .bytes = t.bytes};
            row.start = t.start_ns;
            row.end = t.end_ns;
            row.moment = !accounts::moving_time(t);
        }
        for (const record::Wait& w : state.waits) {
            TimelineItem& row = rows_.emplace_back();
            row = {.kind = TimelineItem::Kind::wait,
                   .backend = w.backend,
                   .split = w.split,
                   .count = 0,
                   .n_shaders = w.n_shaders,
                   .held = w.held};
            row.start = w.start_ns;
            row.end = w.end_ns;
        }
    }
    if (shows_ == Shows::timeline) {
        std::stable_sort(rows_.begin(), rows_.end(),
                         [](const TimelineItem& a, const TimelineItem& b) { return a.start < b.start; });
    }
    extent_ = accounts::time_extent(history(), state);
    if (rows_.empty() && !accounts::splits_as_a_whole(state).empty()) {
        say_only_splits_are_timed(untimed);
    }
    make_room_for_untimed(std::any_of(rows_.begin(), rows_.end(), [](const TimelineItem& item) { return !item.took(); }));
}

/// A program that is watched from outside runs its splits as a whole.
void TimelineTable::say_only_splits_are_timed(const std::string& untimed) {
    if (shows_ == Shows::kernels) {
        when_empty_ =
            "this program's kernels are not timed one by one, only whole splits: " + (untimed.empty() ? "" : untimed + ", and ") +
            "see --what splits or --what time";
        empty_is_unknown_ = true;
    }
}

std::string_view TimelineTable::kind(int row) const {
    constexpr std::string_view kinds[] = {"execute", "transfer", "wait"};
    return rows_[row].is_split() ? "split_run" : kinds[ordinal(rows_[row].kind)];
}

std::string TimelineTable::what(const TimelineItem& item) const {
    if (item.is_split()) {
        return "whole split";
    }
    if (item.kind == TimelineItem::Kind::transfer) {
        return "copy";
    }
    if (item.n_shaders > 0) {
        return "compiling " + words::counted(item.n_shaders, "shader");
    }
    if (item.held) {
        return "held";
    }
    return item.kind == TimelineItem::Kind::wait ? (item.backend == no_backend ? "wait for trace" : "waited for")
                                                 : std::string(history().source().text(item.kernel));
}

std::span<const TimeTable::Entry> TimeTable::entries() {
    using T = const TimeTable&;
    using R = const accounts::TimeRow&;
    static const Entry list[] = {
        {{.key = "backend", .title = "backend", .help = "whose time it is", .unit = Unit::backend},
         [](T t, R r) { return t.backend(r.backend); }},
        {{.key = "activity",
          .title = "did",
          .help = "what it did: each moment counts once, as the first of computing, copying, waiting, idle"},
         [](T, R r) -> Cell { return accounts::activity_name(r.activity); }},
        {{.key = "what", .title = "what", .help = "which part of that"}, [](T, R r) { return Cell::if_any(r.what); }},
        {{.key = "time_ns", .title = "time", .help = "that it took", .unit = Unit::time},
         [](T, R r) { return r.ns ? Cell(*r.ns) : Cell::nothing(not_timed_text); }},
        {{.key = "share", .title = "share", .help = "of the evaluation's time", .unit = Unit::percent},
         [](T t, R r) { return r.ns ? Cell(t.account().extent.percent(*r.ns)) : Cell(); }},
        {{.key = "n", .title = "runs", .help = "how many kernels, splits, copies or waits that were", .unit = Unit::count},
         [](T, R r) -> Cell { return r.n; }},
    };
    return list;
}

void TimeTable::update(const PlanState& state) {
    look_at(state);
    account_ = accounts::time(history(), state, by_);
    rows_ = account_.rows;
    if (!account_.anything) { // all of it would be idle
        std::erase_if(rows_, [](const accounts::TimeRow& row) { return row.activity == accounts::Activity::idle; });
    }
    say_when_empty(Topic::runs, "where the time went", nothing_yet(history(), state.evaluation));
}

std::string TimeTable::summary() const {
    const std::string untimed = accounts::untimed_splits(history(), state());
    return "each device's rows sum to " + words::duration(account_.extent.time_ns()) + ", the time of evaluation " +
           std::to_string(state().evaluation) + (untimed.empty() ? "" : "\n" + untimed);
}

} // namespace schedscope::tables
