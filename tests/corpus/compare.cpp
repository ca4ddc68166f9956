#include "tests/corpus/compare.h"

#include "tests/corpus/run_case.h"

#include <algorithm>

namespace schedscope::corpus {

namespace {

std::string show(const std::string& value) { return value.empty() ? "nothing" : value; }
std::string show(int64_t value) { return std::to_string(value); }

template <typename T> std::string show(const std::vector<T>& values) {
    std::string text = "[";
    for (const T& value : values) {
        text += (text.size() > 1 ? ", " : "") + show(value);
    }
    return text + "]";
}

std::string show(const Row::Split& s) {
    return "backend " + show(s.backend) + " nodes " + show(s.first) + " to " + show(s.end) + " inputs " + show(s.inputs) +
           " why " + s.why;
}

std::string show(const Row::Rewired& r) {
    return "source " + show(r.source) + " of " + show(r.node) + " from " + show(r.original) + " to its copy " + show(r.copy) +
           " on backend " + show(r.backend);
}

std::string show(const Row::Copies& c) { return "of " + show(c.of) + " on backend " + show(c.backend) + ": " + show(c.names); }

std::string show(const Row::Placed& p) {
    return p.tensor + " on backend " + show(p.backend) + " chunk " + show(p.chunk) + " offset " + show(p.offset) + " bytes " +
           show(p.bytes);
}

class CaseComparison {
public:
    CaseComparison(const Case& c, std::vector<CaseDifference>& out) : case_(c), out_(out) {}

    void compare_round(int round, const Round& expected, const RunRound& got) {
        round_ = round;
        const Outcome& a = expected.expected;
        const Outcome& b = got.outcome;
        value("error", a.error, b.error);
        value("where", a.where, b.where);
        if (expected.has_causes_and_passes) {
            passes(a, b);
        }
        if (!a.error.empty() || !b.error.empty()) {
            return;
        }
        value("cur_copy", expected.current_stage, got.current_stage);
        map("assign", a.assign, b.assign);
        if (expected.has_causes_and_passes) {
            list("cause", a.causes, b.causes);
        }
        list("splits", a.splits, b.splits);
        list("rewired", a.rewired, b.rewired);
        list("copies", a.copies, b.copies);
        list("graph_inputs", a.graph_inputs, b.graph_inputs);
        if (a.allocation) {
            allocation(*a.allocation, *b.allocation);
        }
    }

private:
    void passes(const Outcome& a, const Outcome& b) {
        for (const char* pass : {"1", "2a", "2b", "2c", "2d", "3", "4"}) {
            const auto find = [&](const Outcome& o) {
                const auto found = o.passes.find(pass);
                return found == o.passes.end() ? std::string() : found->second;
            };
            map(std::string("pass ") + pass, find(a), find(b));
        }
        value("passes completed", static_cast<int64_t>(a.passes.size()), static_cast<int64_t>(b.passes.size()));
    }

    void allocation(const PlannedPlaces& a, const PlannedPlaces& b) {
        list("graph_copy nodes", a.nodes, b.nodes);
        map("graph_copy node_backends", a.node_backends, b.node_backends);
        list("graph_copy leafs", a.leafs, b.leafs);
        map("graph_copy leaf_backends", a.leaf_backends, b.leaf_backends);
        value("alloc reserve", a.reserve, b.reserve);
        list("alloc buffers", a.buffers, b.buffers);
        list("alloc tensors", a.tensors, b.tensors);
    }

    template <typename T> void value(const std::string& what, const T& expected, const T& got) {
        if (expected != got) {
            out_.push_back({case_.name, round_, what, show(expected), show(got)});
        }
    }

    template <typename T> void list(const std::string& what, const std::vector<T>& expected, const std::vector<T>& got) {
        const auto [a, b] = std::ranges::mismatch(expected, got);
        if (a == expected.end() && b == got.end()) {
            return;
        }
        out_.push_back({case_.name, round_, what + "[" + std::to_string(a - expected.begin()) + "]",
                        a == expected.end() ? "the end" : show(*a), b == got.end() ? "the end" : show(*b)});
    }

    void map(const std::string& what, const std::string& expected, const std::string& got) {
        const auto [a, b] = std::ranges::mismatch(expected, got);
        if (a != expected.end() || b != got.end()) {
            out_.push_back({case_.name, round_, what + " of " + std::to_string(a - expected.begin()),
                            a == expected.end() ? "the end" : std::string(1, *a),
                            b == got.end() ? "the end" : std::string(1, *b)});
        }
    }

    const Case& case_;
    std::vector<CaseDifference>& out_;
    int round_ = 0;
};

} // namespace

std::string to_text(const CaseDifference& d) {
    return d.case_name + ", round " + std::to_string(d.round) + ", " + d.what + ": expected " + d.expected + ", got " + d.got;
}

std::vector<CaseDifference> compare_case(const Case& c) {
    std::vector<CaseDifference> out;
    CaseComparison comparison(c, out);
    const std::vector<RunRound> rounds = run_case(c);
    if (c.error_round < 0) {
        for (size_t i = 0; i < rounds.size(); ++i) {
            comparison.compare_round(static_cast<int>(i), c.rounds[i], rounds[i]);
        }
        return out;
    }
    for (int round = 0; round < c.error_round; ++round) {
        if (const std::string& early = rounds[static_cast<size_t>(round)].outcome.error; !early.empty()) {
            out.push_back({c.name, round, "error", "nothing", early});
        }
    }
    comparison.compare_round(c.error_round, c.rounds.front(), rounds.back());
    return out;
}

} // namespace schedscope::corpus
