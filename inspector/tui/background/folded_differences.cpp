#include "inspector/tui/background/folded_differences.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/fold_runs.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

namespace schedscope::tui {
namespace {

using diff::DiffValue;
using diff::TraceDifference;
using diff::What;
using Differences = std::span<const TraceDifference* const>;

std::optional<int64_t> number_of(const DiffValue& value) {
    const auto* n = std::get_if<int64_t>(&value);
    return n ? std::optional(*n) : std::nullopt;
}

std::string with_underscores_as_spaces(std::string_view name) {
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

/// A difference by itself.
Comparison::Row row_of(const TraceDifference& d) {
    Comparison::Row row;
    row.evaluation = d.eval_a;
    row.members = {{d.eval_a, d.id_a, {}}};
    row.what = with_underscores_as_spaces(diff::what_name(d.what));
    row.name = d.subject;
    std::tie(row.left, row.right) = diff::value_texts(d);
    row.note = d.note;
    row.left_number = number_of(d.a);
    row.right_number = number_of(d.b);
    if (d.what == What::replan) {
        say_planned_again(row);
    }
    if (!d.renamed.empty()) {
        row.name += " (" + d.renamed + ")";
    }
    if (row.left == row.right && !d.note.empty()) {
        const size_t arrow = d.note.find(" → "); // "by 1.wgt0 → 1.off": the same backend, by another rule
        if (arrow != std::string::npos) {
            row.left += " " + d.note.substr(0, arrow);
            row.right += " " + d.note.substr(arrow + std::string_view(" → ").size());
        }
    }
    return row;
}

/// What is said of a difference, which is this row, and of its like: those of which the same is said are told together.
std::string said_of(const TraceDifference& d, const Comparison::Row& row) {
    const auto more = [&](std::string_view name) { return diff::value_text(d.what, diff::more_of(d, name)); };
    std::string sides = row.what + (row.left.empty() ? "\nonly right" : row.right.empty() ? "\nonly left" : "\nboth");
    switch (d.what) {
    case What::node:
    case What::shape:
    case What::layout:
    case What::parameters:
    case What::source:
    case What::reorder: return sides; // each by something else
    case What::placement: return sides + "\n" + more("buffer_a") + "\n" + more("buffer_b");
    case What::token:
    case What::sampler: return sides + "\n" + more("sequence");
    case What::copy:
        return sides + "\n" + row.left.substr(0, row.left.find(", stage")) + "\n" +
               row.right.substr(0, row.right.find(", stage"));
    default: return sides + "\n" + row.left + "\n" + row.right;
    }
}

/// The same of all, or that of the first with a sign that there is more.
std::string of_all(const std::vector<Comparison::Row>& rows, std::string Comparison::Row::*text) {
    const std::string& first = rows.front().*text;
    const bool same = std::all_of(rows.begin(), rows.end(), [&](const Comparison::Row& r) { return r.*text == first; });
    return same ? first : first + " …";
}

Comparison::Row row_of(const FoldedRuns& folded, std::span<const Comparison::Row> singles) {
    std::vector<Comparison::Row> rows;
    for (const size_t member : folded.members) {
        rows.push_back(singles[member]);
    }
    if (rows.size() == 1) {
        return rows.front();
    }
    Comparison::Row row = rows.front();
    row.name = folded.name;
    row.n = n_of(rows);
    row.names = joined(rows, " ", &Comparison::Row::name);
    row.left = of_all(rows, &Comparison::Row::left);
    row.right = of_all(rows, &Comparison::Row::right);
    const bool one_note = std::all_of(rows.begin(), rows.end(), [&](const Comparison::Row& r) { return r.note == row.note; });
    const bool one_said = !row.left.ends_with(" …") && !row.right.ends_with(" …");
    row.note = one_note ? row.note : "";
    row.left_number.reset();
    row.right_number.reset();
    const auto side = [](const std::string& text) { return text.empty() ? std::string(not_there_text) : text; };
    row.members.clear();
    for (const Comparison::Row& r : rows) {
        Comparison::Member& member = row.members.emplace_back(r.members.front());
        const bool by_name = one_said && member.tensor != no_tensor; // the trace has it
        member.said = by_name ? "" : one_said ? r.name : joined({r.name, ": ", side(r.left), " → ", side(r.right)});
    }
    return row;
}

/// What comes out of many evaluations is told together.
bool is_generated(const TraceDifference& d) noexcept { return d.what == What::token || d.what == What::sampler; }

bool of_one_block(const TraceDifference& x, const TraceDifference& y) noexcept {
    if (x.what == What::evaluation && y.what == What::evaluation) { // that only one of them has
        return (x.eval_a < 0) == (y.eval_a < 0);
    }
    return is_generated(x) ? is_generated(y) : !is_generated(y) && x.eval_a == y.eval_a && x.eval_b == y.eval_b;
}

/// Of one block, and of one kind.
void add_rows(Differences differences, std::vector<Comparison::Row>& rows) {
    std::vector<Comparison::Row> singles;
    std::vector<std::string> said;
    for (const TraceDifference* d : differences) {
        singles.push_back(row_of(*d));
        said.push_back(said_of(*d, singles.back()));
    }
    for (Comparison::Row& row : fold_rows(singles, said)) {
        rows.push_back(std::move(row));
    }
}

/// The rows of one pair of evaluations, or of all that was generated.
struct Block {
    std::vector<EvaluationId> evaluations; ///< that have the same
    std::vector<Comparison::Row> rows;
};

bool alike(const Block& a, const Block& b) {
    return std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(),
                      [](const Comparison::Row& x, const Comparison::Row& y) {
                          return x.what == y.what && x.name == y.name && x.names == y.names && x.left == y.left &&
                                 x.right == y.right && x.n == y.n && x.note == y.note;
                      });
}

std::string title_of(const Block& block, const History& a) {
    const std::optional<GraphKind> kind = a.evaluation(block.evaluations.front()).begin.kind;
    return joined({"evaluations ", joined(block.evaluations, ", ", [](EvaluationId id) { return std::to_string(id); }),
                   kind ? ": " + std::string(kind_text(kind)) : ""});
}

} // namespace

void say_planned_again(Comparison::Row& row) {
    row.what = "memory";
    row.name = "memory planned again";
    row.left = row.left.empty() ? "no" : "because " + row.left;
    row.right = row.right.empty() ? "no" : "because " + row.right;
}

std::vector<Comparison::Row> fold_rows(std::span<const Comparison::Row> rows, const std::vector<std::string>& said) {
    const std::vector<NameRun> runs = runs_of(rows.size(), [&](size_t first, size_t i) { return said[first] == said[i]; });
    std::vector<std::string> of_runs;
    std::transform(runs.begin(), runs.end(), std::back_inserter(of_runs), [&](const NameRun& run) { return said[run.first]; });
    std::vector<Comparison::Row> folded;
    for (const FoldedRuns& each : fold_runs(
             runs, [&](size_t i) { return std::string_view(rows[i].name); }, of_runs)) {
        folded.push_back(row_of(each, rows));
    }
    return folded;
}

std::vector<Comparison::Row> folded_differences(const diff::Result& result, const History& a) {
    std::vector<const TraceDifference*> all;
    for (const TraceDifference& d : result.differences) {
        all.push_back(&d);
    }
    std::vector<Block> blocks;
    for (size_t first = 0; first < all.size();) {
        const auto behind = [&](size_t from, size_t most, const auto& is_same) {
            size_t end = from;
            while (end < most && is_same(*all[from], *all[end])) {
                ++end;
            }
            return end;
        };
        Block block;
        block.evaluations = {all[first]->eval_a};
        const size_t end = behind(first, all.size(), of_one_block);
        std::stable_sort(all.data() + first, all.data() + end,
                         [](const TraceDifference* x, const TraceDifference* y) { return x->what < y->what; });
        while (first < end) {
            const size_t next =
                behind(first, end, [](const TraceDifference& x, const TraceDifference& y) { return x.what == y.what; });
            add_rows(Differences(all).subspan(first, next - first), block.rows);
            first = next;
        }
        const auto same = std::find_if(blocks.begin(), blocks.end(), [&](const Block& b) {
            return b.evaluations.front() >= 0 && block.evaluations.front() >= 0 && alike(b, block);
        });
        if (same == blocks.end()) {
            blocks.push_back(std::move(block));
            continue;
        }
        same->evaluations.push_back(block.evaluations.front());
        for (size_t i = 0; i < block.rows.size(); ++i) {
            std::vector<Comparison::Member>& to = same->rows[i].members;
            to.insert(to.end(), block.rows[i].members.begin(), block.rows[i].members.end());
        }
    }
    std::vector<Comparison::Row> rows;
    for (Block& block : blocks) {
        for (Comparison::Row& row : block.rows) {
            if (block.evaluations.size() > 1) {
                row.evaluations = title_of(block, a);
            }
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

} // namespace schedscope::tui
