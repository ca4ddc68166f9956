// The inspector as a user meets it, on a trace of a million records and a graph of 20,000 nodes: the program itself in a
// pseudo-terminal of 60×200. How long to its first frame, from the start of the process, the trace not in memory; from each kind
// of key to the frame that answers it, in every view and all over the trace; a breakpoint searched in all records; forward
// against backward over the same ground; the most memory it held.
//
//     inspector_bench [TRACE]      a trace of one's own instead
#include "bench/long_trace.h"
#include "bench/timed_terminal.h"
#include "traces/history/history.h"
#include "traces/store/reading/reader.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>

namespace schedscope::bench {
namespace {

constexpr int rows = 60, cols = 200;
constexpr int n_starts = 5, n_views = 9, n_random_steps = 5;
constexpr size_t n_presses = 4; ///< of each kind of key at one place, and at least each of its keys once

/// Times of one kind of key.
struct Times {
    std::vector<double> first, last, cpu;
    void add(const TimedTerminal::Answer& answer) {
        first.push_back(answer.first_ms);
        last.push_back(answer.last_ms);
        cpu.push_back(answer.cpu_ms);
    }
};

double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<size_t>(q * static_cast<double>(values.size())))];
}

void print(const std::string& name, const Times& times) {
    std::printf("  %-26s %7zu %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", name.c_str(), times.first.size(),
                quantile(times.first, 0.5), quantile(times.first, 0.99), quantile(times.first, 1), quantile(times.last, 1),
                quantile(times.cpu, 0.5), quantile(times.cpu, 0.99));
}

struct Kind {
    const char* name;
    std::vector<std::string> keys; ///< pressed in turns
};

/// Pressed in every view at every place.
const std::vector<Kind> kinds{
    {"step n", {"n"}},
    {"step p", {"p"}},
    {"sweep s", {"s"}},
    {"sweep S", {"S"}},
    {"pass N", {"N"}},
    {"pass P", {"P"}},
    {"split }", {"}"}},
    {"split {", {"{"}},
    {"evaluation ]", {"]"}},
    {"evaluation [", {"["}},
    {"token t", {"t"}},
    {"token T", {"T"}},
    {"change f", {"f"}},
    {"change F", {"F"}},
    {"ends < >", {"<", ">"}},
    {"line j k", {"j", "j", "k"}},
    {"page PgDn PgUp", {"\x1b[6~", "\x1b[6~", "\x1b[5~"}},
    {"list Home End", {"\x1bOF", "\x1bOH"}},
    {"pane Tab", {"\t"}},
    {"order o", {"o"}},
    {"view 1-9", {"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
    {"typing", {"/", "b", "l", "\x15\r"}},
    {"search name", {"/ffn_out-3\r", "."}},
    {"search without a hit", {"/backend=CPU name~no-such-tensor\r"}},
    {"filter", {"&backend=CPU\r", "&\x15\r"}},
    {"filter by name", {"&ffn_out\r", "&\x15\r"}},
    {"keys ?", {"?", "q"}},
};

/// Steps over the same ground in both directions.
struct Direction {
    char name;
    std::string forward, backward;
};
const std::vector<Direction> directions{{'n', "n", "p"}, {'s', "s", "S"}, {'N', "N", "P"},
                                        {'}', "}", "{"}, {']', "]", "["}, {'f', "f", "F"}};

/// In the middle of every sweep of a plan, and anywhere.
std::vector<Step> places(const std::string& path) {
    History history(std::make_shared<TraceReader>(path));
    const EvaluationId planned = history.last_planned();
    const EvaluationSpan span = history.evaluation(std::max(planned, 0));
    std::vector<Step> begins;
    for (Step at = span.first - 1; (at = history.next(at, History::Unit::sweep)) != no_step && at < span.end;) {
        begins.push_back(at);
    }
    begins.push_back(span.end);
    std::vector<Step> found;
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
        found.push_back((begins[i] + begins[i + 1]) / 2);
    }
    std::mt19937 random(1);
    for (int i = 0; i < n_random_steps; ++i) {
        found.push_back(static_cast<Step>(random() % static_cast<uint64_t>(history.n_steps())));
    }
    return found;
}

int run(const std::string& path, const LongTrace* made) {
    const std::vector<std::string> command{program_beside("schedscope"), "inspect", path};
    {
        const TraceReader reader(path);
        std::printf("%s records, %d evaluations, %.1f MB; %d×%d\n", std::to_string(reader.n_steps()).c_str(),
                    reader.n_evaluations(), static_cast<double>(std::filesystem::file_size(path)) / 1e6, cols, rows);
    }
    Times starts;
    for (int i = 0; i < n_starts; ++i) {
        if (made != nullptr) {
            made->forget_pages();
        }
        TimedTerminal fresh(rows, cols, command);
        starts.add(fresh.first_frame());
    }
    TimedTerminal terminal(rows, cols, command);
    terminal.first_frame();
    const auto at_first = terminal.peak_kib();

    std::map<std::string, Times> by_kind, by_view, each;
    Times all;
    const auto press = [&](const std::string& kind, const std::string& view, const std::string& keys) {
        const TimedTerminal::Answer answer = terminal.press(keys);
        all.add(answer);
        by_kind[kind].add(answer);
        by_view[view].add(answer);
        each[kind + " in " + view].add(answer);
    };
    const std::vector<Step> steps = places(path);
    for (int view = 1; view <= n_views; ++view) {
        const std::string number = std::to_string(view), in = "view " + number;
        for (const Step step : steps) {
            for (const Kind& kind : kinds) {
                terminal.press(view == 1 ? "2" : "1"); // lists begin again
                terminal.press(number);
                press("go to step g", in, "g" + std::to_string(step) + "\r");
                for (size_t i = 0; i < std::max(n_presses, kind.keys.size()); ++i) {
                    press(kind.name, in, kind.keys[i % kind.keys.size()]);
                }
            }
        }
    }
    // There and back again: to the same states, so that neither way is measured where there is less to show.
    std::map<char, Times> forward, backward;
    for (int view = 1; view <= n_views; ++view) {
        terminal.press(std::to_string(view));
        for (const Step step : steps) {
            for (const Direction& d : directions) {
                for (const bool there_first : {true, false}) {
                    terminal.press("g" + std::to_string(step) + "\r");
                    for (size_t i = 0; i < 2 * n_presses; ++i) {
                        const bool is_forward = (i < n_presses) == there_first;
                        (is_forward ? forward : backward)[d.name].add(terminal.press(is_forward ? d.forward : d.backward));
                    }
                }
            }
        }
    }
    Times order_by_text; // of all tensors
    terminal.press("1");
    for (const Step step : steps) {
        terminal.press("g" + std::to_string(step) + "\r");
        for (const char* column : {"op", "name", "type", "backend", "by"}) {
            terminal.press(":sort " + std::string(column));
            order_by_text.add(terminal.press("\r"));
        }
    }
    terminal.press(":sort\r");
    Times scan;
    terminal.press("<");
    terminal.press("bkind=execute name=no-such-tensor\r");
    scan.add(terminal.press("c"));
    const auto peak = terminal.peak_kib();

    std::printf("milliseconds                   frames    median       p99       max  all done   cpu p50   cpu p99\n");
    print("first frame", starts);
    print("any key", all);
    print("order by a text", order_by_text);
    print("breakpoint in all records", scan);
    std::printf("by kind of key\n");
    for (const auto& [name, times] : by_kind) {
        print(name, times);
    }
    std::printf("by view\n");
    for (const auto& [name, times] : by_view) {
        print(name, times);
    }
    std::printf("slowest pairs\n");
    std::vector<std::pair<double, std::string>> slowest;
    for (const auto& [name, times] : each) {
        slowest.emplace_back(quantile(times.first, 0.99), name);
    }
    std::sort(slowest.rbegin(), slowest.rend());
    for (size_t i = 0; i < std::min<size_t>(slowest.size(), 20); ++i) {
        print(slowest[i].second, each[slowest[i].second]);
    }
    std::printf("backward / forward            ");
    for (const Direction& d : directions) {
        std::printf(" %c %.2f", d.name, quantile(backward[d.name].first, 0.5) / quantile(forward[d.name].first, 0.5));
    }
    std::printf("\npeak memory                    %.0f MiB at the first frame, %.0f MiB at the end\n",
                static_cast<double>(at_first) / 1024, static_cast<double>(peak) / 1024);
    return 0;
}

} // namespace
} // namespace schedscope::bench

int main(int argc, char** argv) {
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        std::fprintf(stderr, "usage: inspector_bench [TRACE]\n");
        return 2;
    }
    using namespace schedscope::bench;
    if (argc > 1) {
        return run(argv[1], nullptr);
    }
    const LongTrace made;
    return run(made.path, &made);
}
