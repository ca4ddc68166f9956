// What the lists' cells stand for: the order of their numbers, and what is not known.
#include "inspector/tui/actions/pages.h"
#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/memory_map.h"
#include "inspector/tui/views/view.h"
#include "runtime/system/joined.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"
#include "tests/support/traces/made_trace.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/explain.h"
#include "traces/history/find_tensor.h"
#include "traces/history/words/story_words.h"
#include "traces/store/reading/reader.h"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include <poll.h>

namespace schedscope::tui {
namespace {

std::unique_ptr<View> view_named(std::string_view name, InspectorSession& session) {
    const auto entry = std::find_if(views().begin(), views().end(), [&](const ViewEntry& v) { return v.name == name; });
    auto view = entry->make(session);
    view->update(session);
    return view;
}

/// What a printed number stands for: "1,024", "61 µs", "4.0 KiB", "9%", of "3–9" the first; nothing: it is no number.
std::optional<double> number_in(std::string text) {
    std::erase(text, ',');
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end == text.c_str()) {
        return std::nullopt;
    }
    const std::string unit(end);
    if (unit.starts_with("–") || unit.starts_with(" –")) {
        return number;
    }
    for (const auto& [name, factor] : {std::pair{"", 1.0},
                                       {"%", 1.0},
                                       {" B", 1.0},
                                       {" KiB", 0x1p10},
                                       {" MiB", 0x1p20},
                                       {" GiB", 0x1p30},
                                       {" ns", 1.0},
                                       {" µs", 1e3},
                                       {" ms", 1e6},
                                       {" s", 1e9}}) {
        if (unit == name) {
            return number * factor;
        }
    }
    return std::nullopt;
}

/// Columns of a view whose cells print numbers; in each of them the larger number has the larger key.
std::set<std::string> ordered_columns(const ViewEntry& entry, InspectorSession& session) {
    std::set<std::string> ordered;
    const auto view = view_named(entry.name, session);
    const auto& columns = view->table().columns();
    for (size_t column = 0; column < columns.size(); ++column) {
        if (!columns[column].is_shown()) {
            continue;
        }
        const std::string title(columns[column].title);
        const bool numbers = is_number(columns[column].unit);
        std::vector<std::pair<double, double>> keys; // and what is printed
        for (int row = 0; row < view->n_rows(); ++row) {
            const tables::Cell said = view->table().cell(row, column);
            const std::string cell = tables::text_of(said, columns[column].unit);
            const auto printed = numbers ? number_in(cell) : std::nullopt;
            if (!printed || !std::isfinite(*printed)) {
                continue;
            }
            const auto key = tables::order_of(said);
            EXPECT_TRUE(key) << entry.name << ": " << title << " of row " << row << " is " << cell;
            keys.emplace_back(key.value_or(0), *printed);
        }
        std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        const auto printed_less = [](const auto& a, const auto& b) { return a.second < b.second; };
        EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end(), printed_less)) << entry.name << ": " << title;
        if (!keys.empty()) {
            ordered.insert(title);
        }
    }
    return ordered;
}

TEST(Order, OfEveryColumnOfNumbersIsThatOfTheNumbers) {
    std::set<std::string> ordered;
    for (const char* name : {"partial-offload", "pipeline", "experts-offload", "mixed-sampling"}) {
        const auto source = schedscope::test::sample(name);
        InspectorSession session(source, nullptr);
        session.start_diff(schedscope::test::sample_path("all-cpu"));
        pollfd done{session.comparison().descriptor(), POLLIN, 0};
        ASSERT_EQ(poll(&done, 1, 60'000), 1);
        session.finish_comparison();
        for (const ViewEntry& entry : views()) {
            for (const std::string& title : ordered_columns(entry, session)) {
                ordered.insert(std::string(entry.name) + " " + title);
            }
        }
    }
    for (const char* column :
         {"nodes #",       "nodes time",   "nodes split",   "splits nodes",   "splits from – to", "splits in",
          "splits share",  "copies at",    "copies time",   "copies count",   "copies in all",    "fusion split",
          "memory offset", "memory used",  "timeline at",   "timeline share", "tokens in",        "tokens seqs",
          "tokens took",   "what-if eval", "queries nodes", "queries on",     "queries asked"}) {
        EXPECT_TRUE(ordered.contains(column)) << column;
    }
}

/// A run through another recorder, which changes what it is given.
class Changed : public Recorder {
public:
    Changed(Recorder& next, std::function<void(Fact&)> change) : next_(next), change_(std::move(change)) {}
    void session(const SessionInfo& info) override { next_.session(info); }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override { next_.graph(id, graph, answers); }
    StringId intern(std::string_view text) override { return next_.intern(text); }
    void keep(const Record& record) override {
        Record changed = record;
        change_(changed.fact);
        next_.keep(changed);
    }

private:
    Recorder& next_;
    std::function<void(Fact&)> change_;
};

TEST(Unknown, SizesMatchNoQueryAndSumUpToNothing) {
    auto store = std::make_shared<LiveStore>();
    Changed without_sizes(*store, [](Fact& fact) {
        if (auto* copy = std::get_if<record::CopyMade>(&fact)) {
            copy->bytes.reset();
        } else if (auto* input = std::get_if<record::SplitInput>(&fact)) {
            input->bytes.reset();
        }
    });
    schedscope::test::MadeRun(2).record(without_sizes, 1);
    InspectorSession session(store, nullptr);
    ASSERT_FALSE(session.state().copies.empty());
    EXPECT_EQ(view_named("copies", session)->title(session), "copies " + std::to_string(session.state().copies.size()) + ", ?");
    const Query small = Query::parse("bytes<1K");
    Facts facts(small);
    int n_looked_at = 0;
    store->for_each(0, store->n_steps(), [&](const Record& record) {
        if (std::holds_alternative<record::CopyMade>(record.fact) || std::holds_alternative<record::SplitInput>(record.fact)) {
            session.describer().record(record, facts);
            EXPECT_FALSE(small.matches(facts)) << record.step;
            ++n_looked_at;
        }
    });
    EXPECT_GT(n_looked_at, 1);
}

TEST(Unknown, AWaitWithoutASplitIsInNone) {
    auto store = std::make_shared<LiveStore>();
    schedscope::test::MadeRun(1).record(*store, 1);
    record::Wait wait;
    wait.split = -1;
    wait.start_ns = 1'000'000'000;
    wait.end_ns = wait.start_ns + 10;
    store->add(wait);
    InspectorSession session(store, nullptr);
    session.go(session.last_step());
    const auto view = view_named("timeline", session);
    Facts facts;
    bool there = false;
    for (int row = 0; row < view->n_rows(); ++row) {
        view->facts(session, row, facts);
        if (facts.text(Field::kind) == "wait") {
            there = true;
            EXPECT_FALSE(Query::parse("split<1").matches(facts));
            EXPECT_FALSE(Query::parse("bytes<1").matches(facts));
            EXPECT_TRUE(Query::parse("time=10").matches(facts));
        }
    }
    EXPECT_TRUE(there);
}

TEST(StoryPage, TellsSourcesAsExplainDoes) {
    InspectorSession session(std::make_shared<TraceReader>(paths::sample("partial-offload")), nullptr);
    const PlanState& state = session.state();
    const TensorId norm = find_tensors(session.history(), state, "attn_norm-0").front();
    const std::vector<std::string> told =
        words::story_sources(session.history(), state, explain(session.history(), state.evaluation, norm));
    ASSERT_EQ(told.size(), 2U);
    const std::string page = lines_text(story_page(session, norm, 200));
    for (const std::string& source : told) { // beside each other in a pane, behind each other in a line
        EXPECT_NE(page.find(source.substr(0, source.find("  "))), std::string::npos) << page;
        EXPECT_NE(page.find(source.substr(source.find("  ") + 2)), std::string::npos) << page;
    }
}

/// A log tells neither of rules nor, of what it leaves out, of operators.
TEST(Unknown, RulesAndOperatorsOfALogAreSaidToBe) {
    auto imported = schedscope::test::Imported::file(paths::log("2026-01"));
    InspectorSession session(imported.store, nullptr);
    const OwnedGraph& graph = *session.graph();
    const TensorId product = graph.nodes[3];
    EXPECT_NE(lines_text(story_page(session, product, 100)).find("pass ?        on Vulkan0, by a rule that is not known"),
              std::string::npos)
        << lines_text(story_page(session, product, 100));
    Facts facts;
    session.describer().tensor(session.state(), graph.tensors[static_cast<size_t>(product)].src[0], facts);
    EXPECT_EQ(facts.text(Field::op), "?");
}

TEST(Copies, OfAPipelineSayWhatAnEvaluationMoves) {
    Terminal t(24, 80, [] { return inspect_sample("pipeline"); });
    t.press("3");
    EXPECT_TRUE(t.shows("├ copies 62, 1.9 MiB, 394 KiB to move ")) << t.text();
}

TEST(Copies, TakeAsLongAsAllTheirTransfers) {
    auto store = std::make_shared<LiveStore>();
    schedscope::test::MadeRun(2).record(*store, 1);
    const Step at = store->previous_of(store->n_steps(), fact_bit<record::Transfer>());
    ASSERT_NE(at, no_step);
    std::vector<Record> records;
    store->read(at, at + 1, records);
    auto again = std::get<record::Transfer>(records.at(0).fact);
    const int64_t first_took = again.end_ns - again.start_ns;
    again.start_ns += 1'000'000;
    again.end_ns = again.start_ns + 7'000'000;
    store->add(again);
    InspectorSession session(store, nullptr);
    session.go(session.last_step());
    const auto view = view_named("copies", session);
    const auto rows = accounts::copies(session.history(), session.state());
    const auto moved_twice = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.id == again.copy; });
    ASSERT_NE(moved_twice, rows.end());
    EXPECT_EQ(moved_twice->time_ns, first_took + 7'000'000);
    EXPECT_EQ(moved_twice->moved_bytes, 2 * again.bytes);
    Facts facts;
    view->facts(session, static_cast<int>(moved_twice - rows.begin()), facts);
    EXPECT_EQ(facts.number(Field::time), static_cast<double>(*moved_twice->time_ns)) << "the table and the view agree";
}

TEST(Memory, ThoseWhoHoldThePeakAreToldApartThoughTheyHaveOneName) {
    const auto holders_of = [](schedscope::test::MadeRun& run, auto&& look) {
        auto store = std::make_shared<LiveStore>();
        run.record(*store, 1);
        InspectorSession session(store, nullptr);
        const auto table = accounts::memory(session.history(), session.state());
        look(session, table.memory);
    };
    std::string first, second; // of one size
    schedscope::test::MadeRun plain(2);
    holders_of(plain, [&](InspectorSession&, const std::vector<accounts::MemoryRow>& buffers) {
        for (const accounts::MemoryRow& buffer : buffers) {
            for (size_t i = 1; i < buffer.holders.size() && first.empty(); ++i) {
                const bool copies = (buffer.holders[i].name + buffer.holders[i - 1].name).find('#') != std::string::npos;
                if (!copies && buffer.holders[i].bytes == buffer.holders[i - 1].bytes) {
                    first = buffer.holders[i - 1].name;
                    second = buffer.holders[i].name;
                }
            }
        }
    });
    ASSERT_FALSE(first.empty());
    schedscope::test::MadeRun twins(2);
    twins.rename(first, "twin");
    twins.rename(second, "twin");
    holders_of(twins, [](InspectorSession& session, const std::vector<accounts::MemoryRow>& buffers) {
        std::set<TensorId> ids, opened;
        for (const accounts::MemoryRow& buffer : buffers) {
            for (const auto& holder : buffer.holders) {
                if (holder.name == "twin") {
                    ids.insert(holder.id);
                }
            }
        }
        EXPECT_EQ(ids.size(), 2u);
        const auto view = view_named("memory", session);
        for (const Line& line : view->detail(session, 0, 60)) {
            for (const Text& part : line.parts) {
                if (part.text.ends_with("B  twin")) {
                    opened.insert(static_cast<TensorId>(line.target.id));
                }
            }
        }
        EXPECT_EQ(opened, ids);
    });
}

TEST(Axis, OfALargeBufferHasUnitsAndFits) {
    constexpr int64_t MiB = int64_t{1} << 20;
    InspectorSession session(schedscope::test::made_trace(4, 3), nullptr);
    const std::vector<record::Placement> placements{{0, no_tensor, 0, 0, 0, 3, 0, 16'779'264},
                                                    {1, no_tensor, 0, 0, 1, 4, 16'779'264, 640 * MiB},
                                                    {2, no_tensor, 0, 0, 2, 4, 16'779'264 + 640 * MiB, 4}};
    MemoryMap map;
    map.set(placements, {{0, 0, {.bytes = 664 * MiB}, {0, 1, 2}}});
    for (const int height : {6, 9, 12}) {
        std::vector<std::string> labels;
        for (const Line& line : map.draw(session, -1, height, 80)) {
            const std::string text = joined(line.parts, "", &Text::text);
            const size_t end = text.find_first_not_of(' ');
            if (end != std::string::npos && end < 9 && std::isdigit(text[end])) {
                labels.push_back(text.substr(end, text.find('B') + 1 - end));
            }
        }
        ASSERT_GE(labels.size(), 2U) << height;
        EXPECT_EQ(labels.front(), "664 MiB") << "at the top";
        EXPECT_EQ(labels.back(), "0 B");
        for (const std::string& label : labels) {
            EXPECT_TRUE(label.ends_with(" MiB") || label == "0 B") << label;
        }
    }
}

TEST(Order, OfTheListIsThatOfTheNumbers) {
    std::string largest;
    {
        InspectorSession session(schedscope::test::made_trace(4, 3), nullptr);
        int64_t offset = 0;
        for (const record::Placement& p : session.state().placements) {
            offset = std::max(offset, p.offset);
        }
        largest = words::count(offset);
    }
    schedscope::test::Terminal t(24, 120, [] { return run_inspector(schedscope::test::made_trace(4, 3), {}); });
    ASSERT_TRUE(t.shows("q quit"));
    t.press("5:sort offset\n");
    ASSERT_TRUE(t.shows("ordered by offset")) << t.text();
    t.press("{Home}");
    EXPECT_TRUE(t.wait_until([&] { return schedscope::test::line_with(t, "│▸", " " + largest + " ") != ""; })) << largest << '\n'
                                                                                                               << t.text();
}

} // namespace
} // namespace schedscope::tui
