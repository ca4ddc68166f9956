#include "inspector/cli/show/diff_text.h"

#include "inspector/cli/output/lines.h"
#include "runtime/numbers.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <set>
#include <utility>

namespace schedscope {

namespace {

constexpr TextTable::Align right = TextTable::Align::right;

/// "24 settings are known of one only: model, name, … of a; program, … of b (--all shows them)"
void print_together(const std::vector<const diff::Setting*>& settings, std::ostream& out) {
    std::string names;
    for (const auto& [side, of] : {std::pair{&diff::Setting::a, "a"}, {&diff::Setting::b, "b"}}) {
        std::string those;
        for (const diff::Setting* s : settings) {
            if (s->*side) {
                those += (those.empty() ? "" : ", ") + s->name;
            }
        }
        names += those.empty() ? "" : (names.empty() ? "" : "; ") + those + " of " + of;
    }
    OutputLine(out) << words::counted(settings.size(), "setting") << " are known of one only: " << names << " (--all shows them)";
}

void print_settings(const diff::Result& result, bool all, std::ostream& out) {
    const std::vector<const diff::Setting*> together = all ? std::vector<const diff::Setting*>() : told_together(result.settings);
    std::vector<const diff::Setting*> shown;
    for (const diff::Setting& s : result.settings) {
        if (together.empty() || !s.one_sided()) {
            shown.push_back(&s);
        }
    }
    size_t width = 0;
    for (const diff::Setting* s : shown) {
        width = std::max(width, s->name.size());
    }
    for (const diff::Setting* s : shown) {
        OutputLine(out) << s->name << std::string(width + 2 - s->name.size(), ' ') << s->a.value_or("(not said)") << " → "
                        << s->b.value_or("(not said)");
    }
    if (!together.empty()) {
        print_together(together, out);
    }
}

std::string amounts_text(const Measure& m) {
    if (m.same()) {
        return m.text_of_same("a", "b", "-");
    }
    const auto [a, b] = m.texts_of_each("-");
    return a + " → " + b;
}

void print_summaries(const diff::Result& result, const History& a, std::ostream& out) {
    std::vector<diff::DiffSummary> summaries = result.summaries;
    std::stable_partition(summaries.begin(), summaries.end(), // what ran comes first
                          [](const diff::DiffSummary& summary) { return summary.kind != GraphKind::reserve; });
    std::vector<TextTable::TextColumn> columns{{""}};
    std::vector<std::string> names;
    for (const diff::DiffSummary& summary : summaries) {
        const std::string kind =
            summary.kind ? std::string(kind_text(summary.kind)) : diff::kind_and_size(a.source(), summary.eval_a);
        columns.push_back({kind + ", evaluation " + std::to_string(summary.eval_a)});
        for (const Measure& m : summary.measures) {
            if (std::find(names.begin(), names.end(), m.name) == names.end()) {
                names.push_back(m.name);
            }
        }
    }
    if (names.empty()) {
        return;
    }
    TextTable table(std::move(columns));
    for (const std::string& name : names) {
        std::vector<std::string> row{name};
        for (const diff::DiffSummary& summary : summaries) {
            const auto m = std::find_if(summary.measures.begin(), summary.measures.end(),
                                        [&](const Measure& measure) { return measure.name == name; });
            row.push_back(m == summary.measures.end() ? "" : amounts_text(*m));
        }
        table.row(std::move(row));
    }
    out << '\n';
    table.print(out);
}

void print_times(const diff::Result& result, std::ostream& out) {
    TextTable table({{"time of"}, {"backend"}, {"a", right}, {"b", right}, {"b / a", right}});
    for (const diff::Time& t : result.times) {
        const auto time = [](const std::optional<int64_t>& ns, int64_t runs) {
            return ns ? words::duration(*ns) : std::string(runs > 0 ? not_timed_text : "-");
        };
        std::string ratio = "-";
        if (t.a_ns && t.b_ns && *t.a_ns > 0) {
            std::array<char, 32> text{};
            std::snprintf(text.data(), text.size(), "%.2f", to_double(*t.b_ns) / to_double(*t.a_ns));
            ratio = text.data();
        }
        const std::string of = t.what == "split"   ? t.name + ", evaluation " + std::to_string(t.eval_a)
                               : t.what == "total" ? t.name + ", all"
                                                   : t.name;
        table.row({of, t.backend, time(t.a_ns, t.a_runs), time(t.b_ns, t.b_runs), ratio});
    }
    out << '\n';
    if (table.empty()) {
        out << "nothing was executed\n";
    } else {
        table.print(out);
    }
}

} // namespace

void print_diff(const diff::Result& result, const History& a, const History& b, const DiffText& how, std::ostream& out) {
    if (result.identical()) {
        out << "identical: " << words::counted(result.evaluations, "evaluation") << ", "
            << words::counted(result.decisions, "decision") << '\n';
        print_settings(result, how.all, out);
    } else {
        print_settings(result, how.all, out);
        std::set<EvaluationId> in, only_a, only_b; // of both; −1: of none
        for (const diff::TraceDifference& d : result.differences) {
            (d.eval_b < 0 ? only_a : d.eval_a < 0 ? only_b : in).insert(d.eval_a < 0 ? d.eval_b : d.eval_a);
        }
        only_a.erase(-1);
        const auto only = [](const std::set<EvaluationId>& those, std::string_view where) {
            return those.empty() ? std::string()
                                 : joined({"; ", words::counted(those.size(), "evaluation"), those.size() == 1 ? " is" : " are",
                                           " only in ", where});
        };
        out << "different: " << words::counted(result.differences.size(), "difference")
            << (in.empty() ? "" : " in " + words::counted(in.size(), "evaluation")) << only(only_a, "a") << only(only_b, "b")
            << '\n';
        print_summaries(result, a, out);
        print_differences(result, a, b, how.all, out);
    }
    if (how.times) {
        print_times(result, out);
    }
}

} // namespace schedscope
