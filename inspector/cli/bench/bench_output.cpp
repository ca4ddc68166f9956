#include "inspector/cli/bench/bench_output.h"

#include "runtime/numbers.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"
#include "viz/tables/table_json.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace schedscope {

/// Measured values in JSON.
static void to_json(nlohmann::json& out, const Measured& m) { out = {{"mean", m.mean}, {"deviation", m.deviation}}; }
static void to_json(nlohmann::json& out, const Compared& c) {
    out = {{"ours", c.ours}, {"theirs", c.theirs}, {"ratio", c.ratio}};
}

namespace {

using nlohmann::json;

int64_t bytes_of(const gguf::File& file) {
    int64_t bytes = 0;
    for (const gguf::FileTensor& t : file.tensors()) {
        bytes += t.bytes;
    }
    return bytes;
}

const MachineLimits& machine_of(const BenchSetting& setting, int n_threads) {
    return std::find_if(setting.machines.begin(), setting.machines.end(), [&](const auto& m) { return m.first == n_threads; })
        ->second;
}

/// Of what the machine can do.
struct Shares {
    std::optional<double> reading, multiplying; ///< nothing where other hardware took part
};
Shares shares_of(const BenchSetting& setting, const BenchTest& test, int n_threads, bool on_processors) {
    if (!on_processors || !test.tokens_per_s) {
        return {};
    }
    const MachineLimits& machine = machine_of(setting, n_threads);
    return {setting.work.share_of_reading(test, test.tokens_per_s->mean, machine),
            setting.work.share_of_multiplying(test, test.tokens_per_s->mean, machine)};
}

std::string fixed(double value, int digits) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(digits) << value;
    return out.str();
}

/// "12.3 ± 0.4"; "12.3" of a single measurement, which deviates from nothing.
std::string with_deviation(const Measured& m, double scale, int digits, int repetitions) {
    return fixed(scale * m.mean, digits) + (repetitions > 1 ? " ± " + fixed(scale * m.deviation, digits) : "");
}

/// Three digits that matter, and the deviation to the same place.
std::string measured_text(const Measured& m, const std::string& unit, int repetitions) {
    return with_deviation(m, 1, m.mean >= 100 ? 0 : m.mean >= 10 ? 1 : 2, repetitions) + (unit.empty() ? "" : " " + unit);
}

/// "62% of the read rate"
std::string share_text(const Shares& shares) {
    if (!shares.reading || !shares.multiplying) {
        return "";
    }
    const bool reads = *shares.reading > *shares.multiplying;
    return fixed(100 * (reads ? *shares.reading : *shares.multiplying), 0) + "% of the " + (reads ? "read" : "multiply") +
           " rate";
}

void print_heading(const BenchSetting& setting) {
    std::cout << visible(setting.model) << ", " << words::bytes(bytes_of(*setting.file)) << "; ";
    for (const auto& [n_threads, machine] : setting.machines) {
        std::cout << words::counted(n_threads, "thread") << ", which multiply and add " << fixed(machine.flops * 1e-9, 1)
                  << " Gflop/s, of bf16 " << fixed(machine.bf16_flops * 1e-9, 1) << ", of int8 "
                  << fixed(machine.int8_ops * 1e-9, 1) << " Gop/s, and read " << fixed(machine.read_bytes_per_s * 1e-9, 1)
                  << " GB/s\n";
    }
    std::cout << '\n';
}

json machine_json(int n_threads, const MachineLimits& machine) {
    return {{"threads", n_threads},
            {"flops", machine.flops},
            {"bf16_flops", machine.bf16_flops},
            {"int8_ops", machine.int8_ops},
            {"read_bytes_per_s", machine.read_bytes_per_s}};
}

json setting_json(const BenchSetting& setting) {
    json machines = json::array();
    for (const auto& [n_threads, machine] : setting.machines) {
        machines.push_back(machine_json(n_threads, machine));
    }
    return {{"model", setting.model},
            {"model_bytes", bytes_of(*setting.file)},
            {"n_prompt", setting.request.n_prompt},
            {"n_generate", setting.request.n_generate},
            {"repetitions", setting.request.repetitions},
            {"machine", machines.front()},
            {"machines", machines}};
}

/// A comparison's part of a test that measured what ours did.
BenchTest test_of(const AgainstCase& c, const BenchRequest& request, bool prompt) {
    return {prompt ? request.n_prompt : 0, prompt ? 0 : request.n_generate, c.depth, 1,
            prompt ? c.prompt->ours : c.generation->ours};
}

} // namespace

void print_cases(const std::vector<BenchCase>& cases, const BenchSetting& setting) {
    const int n = setting.request.repetitions;
    print_heading(setting);
    TextTable table({{"devices"}, {"threads", TextTable::Align::right}, {"test"}, {"result", TextTable::Align::right}, {""}});
    for (const BenchCase& c : cases) {
        const auto row = [&](const std::string& test, const std::string& result, const std::string& beside) {
            table.row({c.devices, std::to_string(c.n_threads), test, result, beside});
        };
        for (const BenchTest& test : c.tests) {
            if (test.tokens_per_s) {
                row(test.name(), measured_text(*test.tokens_per_s, "tokens/s", n),
                    share_text(shares_of(setting, test, c.n_threads, c.on_processors)));
            }
        }
        if (c.planning && c.allocation) {
            row("passes 1 to 5", measured_text(*c.planning, "ns/node", n),
                words::counted(c.n_nodes, "node") + ", " + words::counted(c.n_splits, "split"));
            row("allocation", measured_text(*c.allocation, "ns/node", n), "");
        }
        for (const auto& [times, longer] : c.recording) {
            row("recording", (longer.mean < 0 ? "" : "+") + with_deviation(longer, 100, 1, n) + " % time",
                "of generating; times: " + std::string(kernel_times_name(times)));
        }
        if (!c.why_not_recorded.empty()) {
            row("recording", "-", c.why_not_recorded);
        }
    }
    table.print(std::cout);
}

void print_cases(const std::vector<AgainstCase>& cases, const BenchSetting& setting) {
    const int n = setting.request.repetitions;
    print_heading(setting);
    const auto right = TextTable::Align::right;
    TextTable table(
        {{"devices"}, {"threads", right}, {"test"}, {"ours", right}, {"theirs", right}, {""}, {"ours / theirs", right}, {""}});
    for (const AgainstCase& c : cases) {
        const auto row = [&](const std::string& test, const Compared& values, const std::string& unit,
                             const std::string& beside) {
            table.row({c.devices, std::to_string(c.n_threads), test, measured_text(values.ours, "", n),
                       measured_text(values.theirs, "", n), unit,
                       with_deviation(values.ratio, 1, values.ratio.mean >= 100 ? 0 : 3, n), beside});
        };
        for (const bool prompt : {true, false}) {
            if (const auto& values = prompt ? c.prompt : c.generation) {
                const BenchTest test = test_of(c, setting.request, prompt);
                row(test.name(), *values, "tokens/s", share_text(shares_of(setting, test, c.n_threads, c.on_processors)));
            }
        }
        row("whole program" + (c.depth > 0 ? " @ d" + std::to_string(c.depth) : std::string()), c.processor_s, "CPU s", "");
    }
    table.print(std::cout);
}

json cases_json(const std::vector<BenchCase>& cases, const BenchSetting& setting) {
    json list = json::array();
    for (const BenchCase& c : cases) {
        json tests = json::array();
        const BenchTest *prompt = nullptr, *generation = nullptr; // the first of each stands beside the list
        for (const BenchTest& test : c.tests) {
            (test.n_prompt > 0 ? prompt : generation) =
                test.n_prompt > 0 ? (prompt == nullptr ? &test : prompt) : (generation == nullptr ? &test : generation);
            const Shares shares = shares_of(setting, test, c.n_threads, c.on_processors);
            tests.push_back({{"test", test.name()},
                             {"n_prompt", test.n_prompt},
                             {"n_generate", test.n_generate},
                             {"depth", test.depth},
                             {"sequences", test.sequences},
                             {"tokens_per_s", or_null(test.tokens_per_s)},
                             {"share_of_flops", or_null(shares.multiplying)},
                             {"share_of_reading", or_null(shares.reading)}});
        }
        const auto rate = [](const BenchTest* test) { return test != nullptr ? or_null(test->tokens_per_s) : json(nullptr); };
        const auto shares = [&](const BenchTest* test) {
            return test != nullptr ? shares_of(setting, *test, c.n_threads, c.on_processors) : Shares{};
        };
        json recording = json::object();
        for (const auto& [times, longer] : c.recording) {
            recording[std::string(kernel_times_name(times))] = longer;
        }
        list.push_back({{"devices", c.devices},
                        {"threads", c.n_threads},
                        {"tests", std::move(tests)},
                        {"prompt_tokens_per_s", rate(prompt)},
                        {"generation_tokens_per_s", rate(generation)},
                        {"share_of_flops", or_null(shares(prompt).multiplying)},
                        {"share_of_reading", or_null(shares(generation).reading)},
                        {"nodes", c.planning ? json(c.n_nodes) : json(nullptr)},
                        {"splits", c.planning ? json(c.n_splits) : json(nullptr)},
                        {"planning_ns_per_node", or_null(c.planning)},
                        {"allocation_ns_per_node", or_null(c.allocation)},
                        {"recording_overhead", recording.empty() ? json(nullptr) : recording},
                        {"why_not_recorded", or_null(c.why_not_recorded)}});
    }
    json all = setting_json(setting);
    all["bench"] = std::move(list);
    return all;
}

json cases_json(const std::vector<AgainstCase>& cases, const BenchSetting& setting, const std::string& command) {
    json list = json::array();
    for (const AgainstCase& c : cases) {
        const auto shares = [&](bool prompt) {
            return (prompt ? c.prompt : c.generation).has_value()
                       ? shares_of(setting, test_of(c, setting.request, prompt), c.n_threads, c.on_processors)
                       : Shares{};
        };
        list.push_back({{"devices", c.devices},
                        {"threads", c.n_threads},
                        {"depth", c.depth},
                        {"prompt_tokens_per_s", or_null(c.prompt)},
                        {"generation_tokens_per_s", or_null(c.generation)},
                        {"cpu_s", c.processor_s},
                        {"share_of_flops", or_null(shares(true).multiplying)},
                        {"share_of_reading", or_null(shares(false).reading)}});
    }
    json all = setting_json(setting);
    all["command"] = command;
    all["against"] = std::move(list);
    return all;
}

} // namespace schedscope
