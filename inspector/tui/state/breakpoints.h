#pragma once

#include "runtime/numbers.h"
#include "traces/history/live_gate.h"
#include "viz/query/describer.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace schedscope::tui {

/// A place to stop at: records that a query matches.
struct Breakpoint {
    query::Query query;
    bool enabled = true;
    /// How often a run or a step stopped at it. Also counted on a running program's thread.
    std::shared_ptr<std::atomic<int64_t>> n_met = std::make_shared<std::atomic<int64_t>>(0);
};

/// Those that are set, in the order in which they were. A stop is at a record that any enabled one matches.
class Breakpoints {
public:
    bool empty() const noexcept { return all_.empty(); }
    int size() const noexcept { return n_of(all_); }
    const Breakpoint& operator[](int i) const { return all_[i]; }
    int n_enabled() const noexcept;

    /// Of the same text there is one: it is enabled again.
    void add(query::Query query, bool enabled = true);
    void enable(int i, bool enabled) { all_[i].enabled = enabled; }
    void remove(int i) { all_.erase(all_.begin() + i); }
    void clear() noexcept { all_.clear(); }

    /// Until where something runs: "op=ROPE", "one of 3 breakpoints". Only when one is enabled.
    std::string until() const;
    /// What stands in the status line as long as there are some: "break op=ROPE", "2 of 3 breakpoints".
    std::string standing() const;
    /// "breakpoint", and where there are several the number of the first one that a record meets: "breakpoint 2".
    std::string name_of_met(query::Describer& describer, const Record& record) const;

    /// Asks of records whether an enabled one matches, and counts those that do. What is changed later does not matter to it.
    class Watch {
    public:
        explicit Watch(const Breakpoints& breakpoints);
        bool meets(query::Describer& describer, const Record& record);

    private:
        struct Asked {
            query::Query query;
            query::Facts facts;
            std::shared_ptr<std::atomic<int64_t>> n_met;
        };
        std::vector<Asked> asked_;
    };
    /// The same for a gate, which asks on a thread of its own; empty: none is enabled.
    LiveGate::Predicate for_gate(std::shared_ptr<const RecordSource> source) const;

private:
    std::vector<Breakpoint> all_;
};

} // namespace schedscope::tui
