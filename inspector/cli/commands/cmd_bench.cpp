#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/output/standard_streams.h"
#include "inspector/cli/run/bench.h"
#include "inspector/cli/run/run_arguments.h"
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/backend/machine_limits.h"
#include "runtime/backend/registry.h"
#include "runtime/error.h"
#include "runtime/model/synth/synth.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>
#include <sstream>

#include <unistd.h>

namespace schedscope {

/// Measured values in JSON.
static void to_json(nlohmann::json& out, const Measured& m) { out = {{"mean", m.mean}, {"deviation", m.deviation}}; }

namespace {

using nlohmann::json;

struct BenchArguments {
    BenchRequest request;
    std::string flash_attention = "auto", cache_type_k = "f16", cache_type_v = "f16", products = "int8";
    bool json = false, no_warmup = false;
};

struct BenchModel {
    std::string name;
    std::shared_ptr<const gguf::File> file;
};

/// The model that was named, or one that is made up, large enough that its weights don't stay in a cache.
BenchModel model_of(const RunOptions& run) {
    if (!run.model.empty()) {
        return {run.model, std::make_shared<const gguf::File>(gguf::File::open(run.model))};
    }
    return {"built-in llama, 110M, q8_0",
            std::make_shared<const gguf::File>(synthesise_in_memory(synth_preset("llama", "110m"), Type::Q8_0, 1, "built-in"))};
}

int64_t bytes_of(const gguf::File& file) {
    int64_t bytes = 0;
    for (const gguf::FileTensor& t : file.tensors()) {
        bytes += t.bytes;
    }
    return bytes;
}

/// Shares of what the machine can do; nothing where other hardware took part.
std::optional<double> share_of_reading(const BenchCase& c, const BenchWork& work, const MachineLimits& machine) {
    return c.on_processors && c.generation ? std::optional(c.generation->mean * work.bytes_per_token / machine.read_bytes_per_s)
                                           : std::nullopt;
}
std::optional<double> share_of_flops(const BenchCase& c, const BenchWork& work, const MachineLimits& machine) {
    return c.on_processors && c.prompt ? std::optional(c.prompt->mean * work.flops_per_prompt_token / machine.flops)
                                       : std::nullopt;
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
    return with_deviation(m, 1, m.mean >= 100 ? 0 : m.mean >= 10 ? 1 : 2, repetitions) + " " + unit;
}

void print_text(const std::vector<BenchCase>& cases, const BenchArguments& o, const BenchModel& model, const BenchWork& work,
                const MachineLimits& machine, int n_threads) {
    const int n = o.request.repetitions;
    const std::string flops = fixed(machine.flops * 1e-9, 1) + " Gflop/s",
                      reading = fixed(machine.read_bytes_per_s * 1e-9, 1) + " GB/s";
    std::cout << visible(model.name) << ", " << words::bytes(bytes_of(*model.file)) << "; " << words::counted(n_threads, "thread")
              << ", which multiply and add " << flops << " and read " << reading << "\n\n";
    TextTable table({{"devices"}, {"test"}, {"result", TextTable::Align::right}, {""}});
    for (const BenchCase& c : cases) {
        if (c.prompt) {
            const auto share = share_of_flops(c, work, machine);
            table.row({c.devices, "pp" + std::to_string(o.request.n_prompt), measured_text(*c.prompt, "tokens/s", n),
                       share ? fixed(100 * *share, 0) + "% of " + flops : ""});
        }
        if (c.generation) {
            const auto share = share_of_reading(c, work, machine);
            table.row({c.devices, "tg" + std::to_string(o.request.n_generate), measured_text(*c.generation, "tokens/s", n),
                       share ? fixed(100 * *share, 0) + "% of " + reading : ""});
        }
        if (c.planning && c.allocation) {
            table.row({c.devices, "passes 1 to 5", measured_text(*c.planning, "ns/node", n),
                       words::counted(c.n_nodes, "node") + ", " + words::counted(c.n_splits, "split")});
            table.row({c.devices, "allocation", measured_text(*c.allocation, "ns/node", n), ""});
        }
        for (const auto& [times, longer] : c.recording) {
            table.row({c.devices, "recording", (longer.mean < 0 ? "" : "+") + with_deviation(longer, 100, 1, n) + " % time",
                       "of generating; times: " + std::string(kernel_times_name(times))});
        }
        if (!c.why_not_recorded.empty()) {
            table.row({c.devices, "recording", "-", c.why_not_recorded});
        }
    }
    table.print(std::cout);
}

json all_json(const std::vector<BenchCase>& cases, const BenchArguments& o, const BenchModel& model, const BenchWork& work,
              const MachineLimits& machine, int n_threads) {
    json list = json::array();
    for (const BenchCase& c : cases) {
        json recording = json::object();
        for (const auto& [times, longer] : c.recording) {
            recording[std::string(kernel_times_name(times))] = longer;
        }
        list.push_back({{"devices", c.devices},
                        {"prompt_tokens_per_s", or_null(c.prompt)},
                        {"generation_tokens_per_s", or_null(c.generation)},
                        {"share_of_flops", or_null(share_of_flops(c, work, machine))},
                        {"share_of_reading", or_null(share_of_reading(c, work, machine))},
                        {"nodes", c.planning ? json(c.n_nodes) : json(nullptr)},
                        {"splits", c.planning ? json(c.n_splits) : json(nullptr)},
                        {"planning_ns_per_node", or_null(c.planning)},
                        {"allocation_ns_per_node", or_null(c.allocation)},
                        {"recording_overhead", recording.empty() ? json(nullptr) : recording},
                        {"why_not_recorded", or_null(c.why_not_recorded)}});
    }
    return {{"model", model.name},
            {"model_bytes", bytes_of(*model.file)},
            {"n_prompt", o.request.n_prompt},
            {"n_generate", o.request.n_generate},
            {"repetitions", o.request.repetitions},
            {"machine", {{"threads", n_threads}, {"flops", machine.flops}, {"read_bytes_per_s", machine.read_bytes_per_s}}},
            {"bench", std::move(list)}};
}

int run(BenchArguments& o) {
    catch_interrupts();
    RunOptions& r = o.request.run;
    r.flash_attention = *flash_attention_from_name(o.flash_attention);
    r.products = products_from(o.products);
    r.cache_type_k = *type_from_name(o.cache_type_k);
    r.cache_type_v = *type_from_name(o.cache_type_v);
    if (o.request.devices.empty()) {
        o.request.devices.emplace_back(); // every GPU, then the CPU
    }
    if (o.request.n_prompt == 0 && o.request.n_generate == 0) {
        throw Error(ErrorKind::usage, "bench: -p 0 and -n 0: nothing is left to measure");
    }
    const Registry registry;
    for (const std::string& list : o.request.devices) {
        registry.select(list); // refuses an unknown one before anything is measured
    }
    const BenchModel model = model_of(r);
    o.request.stop = &interrupt_flag();
    o.request.warm_up = !o.no_warmup;
    const bool at_terminal = isatty(STDERR_FILENO) != 0;
    if (at_terminal) {
        o.request.progress = [](std::string_view doing) {
            erase_terminal_line();
            std::cerr << doing << std::flush;
        };
        o.request.progress("the machine");
    }
    const int n_threads = r.n_threads > 0 ? r.n_threads : physical_cores();
    const MachineLimits& machine = machine_limits(std::min(n_threads, 256));
    const std::vector<BenchCase> cases = run_bench(registry, model.file, o.request);
    if (at_terminal) {
        erase_terminal_line();
    }
    if (interrupted()) {
        return exit_interrupted;
    }
    const BenchWork work = work_of(*model.file);
    if (o.json) {
        print_json(all_json(cases, o, model, work, machine, n_threads));
    } else {
        print_text(cases, o, model, work, machine, n_threads);
    }
    return 0;
}

} // namespace

CommandAction add_bench(CommandOptions& app) {
    auto options = std::make_shared<BenchArguments>();
    BenchRequest& q = options->request;
    app.add_option("-m,--model", q.run.model, "GGUF file (default: a made-up llama of 110 million parameters)");
    app.add_option("--device", q.devices,
                   "Devices by priority: vulkan0,cpu (default: every GPU found, then cpu); again: compared")
        .one_value_each();
    app.add_option("-p,--n-prompt", q.n_prompt, "Tokens of the prompt; 0: none").show_default().within(0, 1 << 24);
    app.add_option("-n,--n-gen", q.n_generate, "Tokens generated, one by one; 0: none").show_default().within(0, 1 << 24);
    app.add_option("-r,--repetitions", q.repetitions, "How often each is measured").show_default().within(1, 1000);
    app.add_option("-t,--threads", q.run.n_threads, "Threads (default: physical cores)").within(0, 4096);
    add_layers_option(app, q.run.n_gpu_layers);
    app.add_option("-b,--batch-size", q.run.n_batch, "Tokens decoded together").show_default().within(1, 1 << 24);
    app.add_option("--ub,--ubatch-size", q.run.n_ubatch, "Tokens in one evaluation").show_default().within(1, 1 << 24);
    app.add_option("--fa,--flash-attn", options->flash_attention, "on|off|auto: flash attention")
        .show_default()
        .one_of({"on", "off", "auto"});
    add_cache_type_option(app, "keys", options->cache_type_k);
    add_cache_type_option(app, "values", options->cache_type_v);
    add_products_option(app, options->products);
    app.add_flag("--no-warmup", options->no_warmup, "Count the first run of each, too");
    app.add_flag("--json", options->json, "Print JSON");
    return [options] { return run(*options); };
}

} // namespace schedscope
