// The differences themselves, for people: by evaluation and kind, alike ones in one line.

#include "inspector/cli/show/diff_text.h"

#include "inspector/cli/output/lines.h"
#include "runtime/numbers.h"
#include "traces/history/words/fold_names.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

namespace schedscope {

namespace {

using diff::DiffValue;
using diff::TraceDifference;
using diff::What;

// One difference

bool is_nothing(const DiffValue& value) noexcept { return std::holds_alternative<std::monostate>(value); }

std::string change_text(const TraceDifference& d) {
    const auto [a, b] = diff::value_texts(d);
    const std::string text = is_nothing(d.b)   ? "only in a: " + a
                             : is_nothing(d.a) ? "only in b: " + b
                             : a == b          ? a
                                               : a + " → " + b;
    const bool follows = d.what == What::assignment || d.what == What::copy;
    return d.note.empty() ? text : follows ? text + " " + d.note : text + " (" + d.note + ")";
}

std::string subject_text(const TraceDifference& d) { return d.renamed.empty() ? d.subject : d.subject + " (" + d.renamed + ")"; }

std::string_view title_of(What what) {
    constexpr std::array<std::string_view, ordinal(What::count)> titles{"evaluations",
                                                                        "failures",
                                                                        "reuse of the graph",
                                                                        "prompt",
                                                                        "nodes",
                                                                        "types",
                                                                        "shapes",
                                                                        "layouts",
                                                                        "parameters",
                                                                        "sources",
                                                                        "flags",
                                                                        "memory of their own",
                                                                        "pinned",
                                                                        "assignments",
                                                                        "causes",
                                                                        "passes",
                                                                        "splits",
                                                                        "inputs of splits",
                                                                        "copies",
                                                                        "fusion",
                                                                        "not fused",
                                                                        "order",
                                                                        "compute buffers",
                                                                        "used to",
                                                                        "placement",
                                                                        "memory planned again",
                                                                        "verified",
                                                                        "tokens",
                                                                        "samplers"};
    return titles[ordinal(what)];
}

// Differences of one kind

using DifferenceList = std::vector<const TraceDifference*>;

/// What one of the differences is, in print: "3 tensors", "3 copies".
std::string_view noun_of(What what) noexcept {
    switch (what) {
    case What::copy: return "copy";
    case What::split: return "split";
    case What::input: return "input";
    case What::fusion: return "group";
    case What::replan: return "time";
    default: return "tensor";
    }
}

/// The change without what differs from one of alike tensors to the next: layers, stages, places.
std::string alike_change(const TraceDifference& d) {
    TraceDifference any = d;
    if (d.what == What::reorder) {
        return d.note;
    }
    if (d.what == What::copy) {
        for (DiffValue* value : {&any.a, &any.b}) {
            if (const auto* text = std::get_if<std::string>(value)) {
                *value = text->substr(0, text->find(", stage"));
            }
        }
    } else if (d.what == What::source || d.what == What::input) {
        for (DiffValue* value : {&any.a, &any.b}) {
            if (const auto* text = std::get_if<std::string>(value)) {
                *value = in_any_layer(*text, d.subject);
            }
        }
        any.note = in_any_layer(d.note, d.subject);
    } else if (d.what == What::verdict) {
        any.note.clear(); // each has errors of its own
    }
    return change_text(any);
}

/// ", stages 0…3" of copies.
std::string stages_text(const DifferenceList& copies) {
    std::set<int> stages;
    for (const TraceDifference* d : copies) {
        for (const char* name : {"stage_a", "stage_b"}) {
            if (const DiffValue stage = diff::more_of(*d, name); !is_nothing(stage)) {
                stages.insert(int_of(std::get<int64_t>(stage)));
            }
        }
    }
    const bool none = stages.empty() || (stages.size() == 1 && *stages.begin() == 0);
    return none ? "" : (stages.size() == 1 ? ", stage " : ", stages ") + ranges({stages.begin(), stages.end()});
}

/// Alike changes in one line, in the order of their first.
void print_folded(const DifferenceList& differences, std::ostream& out) {
    std::map<std::string, DifferenceList> alike;
    std::vector<std::string> order;
    for (const TraceDifference* d : differences) {
        const std::string change = alike_change(*d);
        if (alike[change].empty()) {
            order.push_back(change);
        }
        alike[change].push_back(d);
    }
    for (const std::string& change : order) {
        const DifferenceList& group = alike[change];
        const TraceDifference& first = *group.front();
        if (group.size() == 1) {
            OutputLine(out) << "    " << subject_text(first) << ": " << change_text(first);
            continue;
        }
        std::vector<std::string> names;
        for (const TraceDifference* d : group) {
            names.push_back(d->subject);
        }
        OutputLine(out) << "    " << fold_names(names) << ": " << change << stages_text(group) << " ("
                        << words::counted(group.size(), noun_of(first.what)) << ")";
    }
}

void print_placements(const DifferenceList& differences, std::ostream& out) {
    int64_t buffer = 0, size = 0, offset = 0, other = 0;
    for (const TraceDifference* d : differences) {
        const auto differs = [&](const std::string& what) {
            return diff::more_of(*d, what + "_a") != diff::more_of(*d, what + "_b");
        };
        ++(differs("buffer") ? buffer : differs("size") ? size : differs("offset") || differs("chunk") ? offset : other);
    }
    out << "    " << words::counted(differences.size(), "tensor") << ':';
    const char* separator = " ";
    for (const auto& [n, what] : {std::pair{buffer, " in another buffer"}, std::pair{size, " of another size"},
                                  std::pair{offset, " at another offset"}, std::pair{other, " in place of another tensor"}}) {
        if (n > 0) {
            out << separator << words::count(n) << what;
            separator = ", ";
        }
    }
    out << '\n';
}

/// Tokens that differ: once one does, those behind it mostly do.
void print_tokens(const DifferenceList& differences, std::ostream& out) {
    std::map<int64_t, DifferenceList> by_sequence;
    for (const TraceDifference* d : differences) {
        by_sequence[std::get<int64_t>(diff::more_of(*d, "sequence"))].push_back(d);
    }
    for (const auto& [sequence, list] : by_sequence) {
        const auto behind = std::ssize(list) - 1;
        OutputLine(out) << "    " << list.front()->subject << ": " << change_text(*list.front())
                        << (behind > 0 ? ", and " + words::counted(behind, "token") + " behind it" : "");
    }
}

void print_kind(What what, const DifferenceList& differences, bool all, std::ostream& out) {
    out << "  " << title_of(what) << '\n';
    if (all) {
        for (const TraceDifference* d : differences) {
            OutputLine(out) << "    " << subject_text(*d) << ": " << change_text(*d);
        }
    } else if (what == What::placement) {
        print_placements(differences, out);
    } else if (what == What::token || what == What::sampler) {
        print_tokens(differences, out);
    } else {
        print_folded(differences, out);
    }
}

// Differences of one pair of evaluations

/// "evaluation 3 of a, 5 of b, prefill of 5 tokens in a, prefill of 42 tokens in b"; what both are is said once.
std::string evaluation_title(const History& a, const History& b, const TraceDifference& d) {
    if (d.eval_a < 0) {
        return "evaluation " + std::to_string(d.eval_b) + " of b, " + diff::kind_and_size(b.source(), d.eval_b);
    }
    std::string title = "evaluation " + std::to_string(d.eval_a);
    const std::string in_a = diff::kind_and_size(a.source(), d.eval_a);
    if (d.eval_b < 0) {
        return title + " of a, " + in_a;
    }
    if (d.eval_b != d.eval_a) {
        title += " of a, " + std::to_string(d.eval_b) + " of b";
    }
    const std::string in_b = diff::kind_and_size(b.source(), d.eval_b);
    return title + ", " + (in_a == in_b ? in_a : in_a + " in a, " + in_b + " in b");
}

std::string body_of(const DifferenceList& differences, bool all) {
    std::ostringstream body;
    for (size_t first = 0; first < differences.size();) {
        const What what = differences[first]->what;
        DifferenceList kind;
        for (; first < differences.size() && differences[first]->what == what; ++first) {
            kind.push_back(differences[first]);
        }
        print_kind(what, kind, all, body);
    }
    return body.str();
}

bool is_only_in_one(const DifferenceList& block) noexcept { return block.front()->what == What::evaluation; }

/// Evaluations that only one trace has: those in a row that are of the same kind are told once. Returns the first block behind.
size_t print_only_in_one(const std::vector<DifferenceList>& blocks, size_t first, const History& a, const History& b, bool all,
                         std::ostream& out) {
    const bool of_b = blocks[first].front()->eval_a < 0;
    const auto id_of = [&](size_t i) { return of_b ? blocks[i].front()->eval_b : blocks[i].front()->eval_a; };
    const auto kind_of = [&](size_t i) { return diff::kind_and_size((of_b ? b : a).source(), id_of(i)); };
    std::vector<int> ids{id_of(first)};
    const std::string kind = kind_of(first);
    size_t end = first + 1;
    const auto goes_on = [&] {
        return is_only_in_one(blocks[end]) && (blocks[end].front()->eval_a < 0) == of_b && kind_of(end) == kind;
    };
    for (; !all && end < blocks.size() && goes_on(); ++end) {
        ids.push_back(id_of(end));
    }
    const std::string side = of_b ? "b" : "a";
    out << (ids.size() > 1 ? "\nevaluations " : "\nevaluation ") << ranges(ids) << " of " << side << ", " << kind
        << "\n  only in " << side;
    if (ids.size() > 1) {
        out << " (" << words::counted(ids.size(), "evaluation") << ')';
    }
    out << '\n';
    return end;
}

} // namespace

/// What comes out of many evaluations is told together; of the others, those in a row that differ in the same way are told once.
/// Graphs that only reserved memory come behind what ran.
void print_differences(const diff::Result& result, const History& a, const History& b, bool all, std::ostream& out) {
    std::vector<DifferenceList> blocks;
    DifferenceList tokens;
    for (const TraceDifference& d : result.differences) {
        if (d.what == What::token || d.what == What::sampler) {
            tokens.push_back(&d);
        } else if (blocks.empty() || blocks.back().front()->eval_a != d.eval_a || blocks.back().front()->eval_b != d.eval_b) {
            blocks.push_back({&d});
        } else {
            blocks.back().push_back(&d);
        }
    }
    for (DifferenceList& block : blocks) {
        std::stable_sort(block.begin(), block.end(),
                         [](const TraceDifference* x, const TraceDifference* y) { return x->what < y->what; });
    }
    std::stable_partition(blocks.begin(), blocks.end(), [&](const DifferenceList& block) {
        const TraceDifference& d = *block.front();
        return (d.eval_a < 0 ? b.evaluation(d.eval_b) : a.evaluation(d.eval_a)).begin.kind != GraphKind::reserve;
    });
    for (size_t i = 0; i < blocks.size();) {
        if (is_only_in_one(blocks[i])) {
            i = print_only_in_one(blocks, i, a, b, all, out);
            continue;
        }
        const std::string body = body_of(blocks[i], all);
        size_t last = i;
        while (last + 1 < blocks.size() && body_of(blocks[last + 1], all) == body) {
            ++last;
        }
        out << '\n' << evaluation_title(a, b, *blocks[i].front());
        if (last > i) {
            out << ", and " << words::counted(last - i, "evaluation") << " after it in the same way";
        }
        out << '\n' << body;
        i = last + 1;
    }
    if (!tokens.empty()) {
        std::stable_sort(tokens.begin(), tokens.end(),
                         [](const TraceDifference* x, const TraceDifference* y) { return x->what < y->what; });
        out << "\ngenerated\n" << body_of(tokens, all);
    }
}

} // namespace schedscope
