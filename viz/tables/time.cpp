#include "viz/tables/time.h"

#include "runtime/system/number_words.h"
#include "traces/history/words/unknown.h"

namespace schedscope::tables {

using accounts::Activity;

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
        std::erase_if(rows_, [](const accounts::TimeRow& row) { return row.activity == Activity::idle; });
    }
    say_when_empty(Topic::runs, "where the time went", "nothing of this evaluation has run up to this step");
}

std::string TimeTable::summary() const {
    return "each device's rows sum to " + words::duration(account_.extent.time_ns()) + ", the time of evaluation " +
           std::to_string(state().evaluation);
}

} // namespace schedscope::tables
