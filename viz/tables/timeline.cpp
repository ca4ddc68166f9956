#include "viz/tables/timeline.h"

#include <algorithm>

namespace schedscope::tables {

using query::Field;

std::span<const TimelineTable::Entry> TimelineTable::entries() {
    using T = const TimelineTable&;
    using R = const TimelineItem&;
    const static auto if_timed = [](R r, int64_t ns) { return r.timed ? Cell(ns) : Cell::nothing(not_timed_text); };
    static const Entry list[] = {
        {{.title = "at",
          .help = "when it began, from the first work of the evaluation",
          .unit = Unit::time,
          .width = 8,
          .tone = Tone::quiet},
         [](T t, R r) { return if_timed(r, r.start - t.begin()); }},
        {{.key = "start_ns", .help = "when it began, from the beginning of the trace", .unit = Unit::time},
         [](T, R r) { return if_timed(r, r.start); }},
        {{.key = "end_ns", .help = "when it ended", .unit = Unit::time}, [](T, R r) { return if_timed(r, r.end); }},
        {{.key = "time_ns", .title = "took", .help = "its time", .unit = Unit::time, .width = 8, .field = Field::time},
         [](T, R r) { return if_timed(r, r.end - r.start); }},
        {{.key = "backend",
          .title = "backend",
          .help = "that did it; of a copy, the one that it went to",
          .unit = Unit::backend,
          .field = Field::backend},
         [](T t, R r) { return t.backend(r.backend); }},
        {{.key = "kernel",
          .title = "kernel",
          .help = "what ran; a copy, or a wait",
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
          .help = "of the time from the first work to the last",
          .unit = Unit::percent,
          .width = 6,
          .from_width = 100,
          .tone = Tone::quiet},
         [](T t, R r) {
             return r.timed ? Cell(to_double(r.end - r.start) * 100 / to_double(std::max<int64_t>(t.end() - t.begin(), 1)))
                            : Cell();
         }},
    };
    return list;
}

TimelineTable::TimelineTable(History& history, Shows shows) : PlanTable("kernels", history), shows_(shows) {}

void TimelineTable::update(const PlanState& state) {
    look_at(state);
    const auto ran = [](const SplitState& split) { return split.ran != no_step; };
    say_when_empty(Topic::runs, "what ran and when",
                   std::any_of(state.splits.begin(), state.splits.end(), ran)
                       ? "what ran was not timed: it was recorded with --kernel-times none"
                       : "nothing of this evaluation has run up to this step");
    rows_.clear();
    const auto add_kernel = [&](const record::Execute& e, bool timed) {
        rows_.push_back({TimelineItem::Kind::kernel, e.backend, e.last, e.kernel, e.split, e.count, e.device_time, e.bytes,
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
        for (const SplitState& s : state.splits) {
            if (s.kernels != 0 && s.start_ns && s.end_ns) {
                rows_.push_back({TimelineItem::Kind::kernel,
                                 s.backend(),
                                 no_tensor,
                                 0,
                                 s.begin.index,
                                 0,
                                 false,
                                 {},
                                 {},
                                 *s.start_ns,
                                 *s.end_ns});
            }
        }
        for (const record::Transfer& t : state.transfers) {
            rows_.push_back(
                {TimelineItem::Kind::transfer, t.to, t.copy, 0, t.split, 1, false, t.bytes, {}, t.start_ns, t.end_ns});
        }
        for (const record::Wait& w : state.waits) {
            rows_.push_back({TimelineItem::Kind::wait, w.backend, no_tensor, 0, w.split, 0, false, {}, {}, w.start_ns, w.end_ns});
        }
    }
    if (shows_ == Shows::timeline) {
        std::stable_sort(rows_.begin(), rows_.end(),
                         [](const TimelineItem& a, const TimelineItem& b) { return a.start < b.start; });
    }
    begin_ = INT64_MAX;
    end_ = 0;
    for (const TimelineItem& item : rows_) {
        if (item.timed) {
            begin_ = std::min(begin_, item.start);
            end_ = std::max(end_, item.end);
        }
    }
    begin_ = begin_ == INT64_MAX ? 0 : begin_;
    end_ = std::max(end_, begin_ + 1);
    make_room_for_untimed(std::any_of(rows_.begin(), rows_.end(), [](const TimelineItem& item) { return !item.timed; }));
}

std::string_view TimelineTable::kind(int row) const {
    constexpr std::string_view kinds[] = {"execute", "transfer", "wait"};
    return rows_[row].is_split() ? "split_run" : kinds[ordinal(rows_[row].kind)];
}

std::string TimelineTable::what(const TimelineItem& item) const {
    if (item.is_split()) {
        return "kernels not timed";
    }
    if (item.kind == TimelineItem::Kind::transfer) {
        return "copy";
    }
    return item.kind == TimelineItem::Kind::wait ? (item.backend == no_backend ? "wait for trace" : "wait")
                                                 : std::string(history().source().text(item.kernel));
}

} // namespace schedscope::tables
