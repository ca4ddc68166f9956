// Logs that were cut anywhere, and text that is no log.

#include "runtime/error.h"
#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"
#include "tests/support/traces/plan_rows.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/summary.h"
#include "traces/history/describe.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

namespace schedscope::test {
namespace {

std::string log_text(const std::string& name) {
    std::ifstream in(paths::log(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Everything that a reader may ask of each evaluation.
void read_all(History& history) {
    for (EvaluationId e = 0; e < history.n_evaluations(); ++e) {
        const PlanState& state = history.plan(e);
        test::split_rows(history, state);
        test::assignment_rows(history, state);
        accounts::copies(history, state);
        accounts::memory(history, state);
        history.source().for_each(history.evaluation(e).first, history.evaluation(e).end,
                                  [&](const Record& r) { EXPECT_FALSE(describe(history, r).empty()); });
    }
    accounts::summary(history);
}

/// The number of graphs; 0: refused with a sentence.
int import_any(std::string_view text) {
    try {
        Imported imported = Imported::text(text);
        read_all(*imported.history);
        return imported.result.n_graphs;
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return 0;
    }
}

TEST(CutLog, IsImportedWithANoteWhereverItEnds) {
    for (const char* name : {"2026-05", "2023-10", "wrapped"}) {
        const std::string text = log_text(name);
        const size_t whole_header = text.find(" inputs") + 7;
        for (size_t n = 0; n <= text.size(); ++n) {
            SCOPED_TRACE(std::string(name) + " cut at " + std::to_string(n));
            const std::string cut = text.substr(0, n);
            if (n < whole_header) {
                EXPECT_EQ(import_any(cut), 0);
                continue;
            }
            Imported imported = Imported::text(cut);
            read_all(*imported.history);
            EXPECT_EQ(imported.result.n_graphs, 1);
            const bool within_line = n < text.size() && cut.back() != '\n' && cut.back() != ' ' && text[n] != '\n';
            if (std::string_view(name) == "2026-05" && within_line) {
                EXPECT_FALSE(imported.result.notes.empty());
                EXPECT_FALSE(session_fact(imported.history->session(), "notes").empty());
            }
        }
    }
}

TEST(CutLog, MayLackItsBeginning) {
    const std::string text = log_text("2026-05");
    for (size_t n = 0; n < text.size(); n += 7) {
        import_any(std::string_view(text).substr(n));
    }
}

TEST(CutLog, MakesATraceThatReadersAccept) {
    const std::string text = log_text("several");
    for (size_t n = 200; n <= text.size(); n += 311) {
        SCOPED_TRACE(n);
        const LogText log(std::string_view(text).substr(0, n)), trace("");
        std::remove(trace.path().c_str());
        {
            TraceWriter writer(trace.path());
            import_file(log.path(), writer);
            writer.close();
        }
        History history(std::make_shared<TraceReader>(trace.path()));
        read_all(history);
    }
}

TEST(RandomText, IsNeverMoreThanRefused) {
    const std::string text = log_text("2026-05") + log_text("2023-10");
    std::mt19937 random(20231);
    const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
    const std::string_view pieces[] = {"## SPLIT #", "node #",    " inputs: ", "[",  "]",     "(",    ")",   "(  10K) [",
                                       "#",          "999999999", "\x1b[",     "\n", " use=", "NULL", "\xff"};
    for (int round = 0; round < 1500; ++round) {
        std::string bad = text.substr(below(text.size()), 200 + below(2000));
        for (size_t edits = 1 + below(30); edits > 0; --edits) {
            const size_t at = below(bad.size());
            switch (below(4)) {
            case 0: bad[at] = static_cast<char>(below(256)); break;
            case 1: bad.erase(at, below(40)); break;
            case 2: bad.insert(at, pieces[below(std::size(pieces))]); break;
            default: bad.insert(at, bad.substr(below(bad.size()), below(120))); break;
            }
            if (bad.empty()) {
                bad = "#";
            }
        }
        SCOPED_TRACE(round);
        import_any(bad);
    }
}

TEST(RandomText, WithoutASchedulersLineIsRefused) {
    EXPECT_EQ(import_any(""), 0);
    EXPECT_EQ(import_any("hello\nnode 5 is down\n## SPLIT the bill\n"), 0);
    EXPECT_EQ(import_any(std::string(3 << 20, 'x')), 0);
}

TEST(RandomText, NumbersBeyondBeliefAreLeftOut) {
    Imported imported = Imported::text(
        "## SPLIT #0: CPU # 0 inputs\nnode #99999999 (       ADD):                    x (   0K) [  CPU         ] use=0,c=1:\n");
    EXPECT_EQ(imported.result.n_nodes, 0);
    ASSERT_FALSE(imported.result.notes.empty());
}

} // namespace
} // namespace schedscope::test
