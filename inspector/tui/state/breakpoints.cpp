#include "inspector/tui/state/breakpoints.h"

#include <algorithm>
#include <utility>

namespace schedscope::tui {

using query::Describer;
using query::Facts;
using query::Query;

int Breakpoints::n_enabled() const noexcept {
    return int_of(std::count_if(all_.begin(), all_.end(), [](const Breakpoint& b) { return b.enabled; }));
}

void Breakpoints::add(Query query, bool enabled) {
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const Breakpoint& b) { return b.query.text() == query.text(); });
    if (same != all_.end()) {
        same->enabled = enabled;
    } else {
        all_.push_back({std::move(query), enabled});
    }
}

std::string Breakpoints::until() const {
    if (const int n = n_enabled(); n > 1) {
        return "one of " + std::to_string(n) + " breakpoints";
    }
    const auto only = std::find_if(all_.begin(), all_.end(), [](const Breakpoint& b) { return b.enabled; });
    return only->query.text();
}

std::string Breakpoints::standing() const {
    const int n = n_enabled();
    if (empty()) {
        return {};
    }
    if (size() == 1) {
        return "break " + all_.front().query.text() + (n == 1 ? "" : " (disabled)");
    }
    return (n == size() ? "" : std::to_string(n) + " of ") + std::to_string(size()) + " breakpoints";
}

std::string Breakpoints::name_of_met(Describer& describer, const Record& record) const {
    for (int i = 0; size() > 1 && i < size(); ++i) {
        Facts facts(all_[i].query);
        describer.record(record, facts);
        if (all_[i].enabled && all_[i].query.matches(facts)) {
            return "breakpoint " + std::to_string(i + 1);
        }
    }
    return "breakpoint";
}

Breakpoints::Watch::Watch(const Breakpoints& breakpoints) {
    for (const Breakpoint& b : breakpoints.all_) {
        if (b.enabled) {
            asked_.push_back({b.query, Facts(b.query), b.n_met});
        }
    }
}

bool Breakpoints::Watch::meets(Describer& describer, const Record& record) {
    bool met = false;
    for (Asked& asked : asked_) {
        describer.record(record, asked.facts);
        if (asked.query.matches(asked.facts)) {
            asked.n_met->fetch_add(1, std::memory_order_relaxed);
            met = true;
        }
    }
    return met;
}

LiveGate::Predicate Breakpoints::for_gate(std::shared_ptr<const RecordSource> source) const {
    if (n_enabled() == 0) {
        return {};
    }
    struct Reader { // of its own: what the user looks at belongs to another thread
        History history;
        Describer describer{history};
        Watch watch;
        Reader(std::shared_ptr<const RecordSource> of, const Breakpoints& breakpoints)
            : history(std::move(of)), watch(breakpoints) {}
    };
    return [reader = std::make_shared<Reader>(std::move(source), *this)](const Record& record) {
        return reader->watch.meets(reader->describer, record);
    };
}

} // namespace schedscope::tui
