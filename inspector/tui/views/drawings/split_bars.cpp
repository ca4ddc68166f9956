#include "inspector/tui/views/drawings/split_bars.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/unknown.h"
#include "viz/tables/splits.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

constexpr int bar_label_width = 17;

std::optional<int64_t> nodes_of(const SplitState& split) noexcept {
    if (!split.begin.first_node) {
        return std::nullopt;
    }
    return split.end_node < 0 ? 1 : std::max(split.end_node - split.first_node(), 0);
}

} // namespace

int SplitBars::rows(InspectorSession& session, int, int) const { return session.state().splits.empty() ? 0 : 3; }

std::string SplitBars::title(const InspectorSession& session) const {
    const auto& splits = session.state().splits;
    std::vector<int> on(session.n_backends(), 0);
    for (const SplitState& split : splits) {
        if (const size_t b = split.backend(); b < on.size()) {
            ++on[b];
        }
    }
    std::string text;
    for (size_t b = 0; b < on.size(); ++b) {
        if (on[b] > 0) {
            text += (text.empty() ? "" : ", ") + words::count(on[b]) + " on " + session.backend_name(narrow<BackendId>(b));
        }
    }
    return text;
}

std::vector<Line> SplitBars::draw(InspectorSession& session, int selected, int height, int width) {
    Cells cells(height, width);
    drawn_.clear(height, width);
    const auto& splits = session.state().splits;
    const int room = width - bar_label_width - 1;
    // Where not every amount is known, no split has a share.
    const auto bar = [&](int row, const char* name, auto amount_of, auto text_of, const char* unknown = "unknown") {
        int64_t all = 0;
        bool known = true;
        for (const SplitState& split : splits) {
            const std::optional<int64_t> amount = amount_of(split);
            known = known && amount;
            all += amount.value_or(0);
        }
        const std::string amount = known ? text_of(all) : all > 0 ? "≥ " + text_of(all) : unknown;
        cells.text(row, 0, joined({name, " ", amount}), dim, bar_label_width);
        int64_t before = 0;
        for (size_t i = 0; i < splits.size() && known && all > 0; ++i) {
            const int64_t amount = amount_of(splits[i]).value_or(0);
            const auto at = [&](int64_t x) { return bar_label_width + static_cast<int>(to_double(x) / to_double(all) * room); };
            const int left = at(before), right = at(before + amount);
            before += amount;
            const bool here = int_of(i) == selected;
            const Style ink = backend_style(splits[i].backend(), session.n_backends());
            for (int column = left; column < right; ++column) {
                const bool edge = column + 1 == right && right - left > 1;
                cells.put(row, column, edge ? U'▏' : here ? U'█' : U'▒', here ? accent : ink);
                if (row < height) {
                    drawn_.put(row, column, int_of(i));
                }
            }
            const std::string number = std::to_string(splits[i].begin.index);
            if (text_width(number) + 2 < right - left) {
                cells.text(row, left + 1, number, here ? accent.with_reverse() : ink.with_reverse());
            }
        }
    };
    bar(0, "nodes", nodes_of, [](int64_t n) { return words::count(n); });
    const bool knows_runs = session.knows(Topic::runs);
    const auto time_of = [&](const SplitState& split) {
        return knows_runs && split.ran == no_step ? std::optional<int64_t>(0) : split.time_ns(); // it has not run yet
    };
    bar(
        1, "time", time_of, [](int64_t ns) { return ns == 0 ? std::string("-") : time_text(ns); },
        knows_runs                ? not_timed_text
        : session.shows_unknown() ? "unknown"
                                  : "-");
    const accounts::RecordedSizes sizes(session.history(), session.state());
    const SizeSum sum = sizes.of_inputs(session.state());
    const auto bytes_of = [&](const SplitState& split) { return std::optional(sizes.of_inputs(split).bytes); };
    bar(2, "bytes", bytes_of, [&](int64_t n) {
        return sum.is_exact() ? words::bytes(n) : n > 0 ? "≥ " + words::bytes(n) : "unknown";
    });
    return cells.lines();
}

} // namespace schedscope::tui
