#include "inspector/cli/commands/commands.h"

#include "inspector/cli/bench/bench_output.h"
#include "inspector/cli/bench/peer_rates.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/output/progress_line.h"
#include "inspector/cli/run/run_arguments.h"
#include "runtime/backend/processors.h"
#include "runtime/backend/registry.h"
#include "runtime/error.h"
#include "runtime/model/synth/synth.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace schedscope {

namespace {

struct BenchArguments {
    AgainstRequest against; ///< its request is what is measured alone where no command is named
    std::vector<int32_t> threads{0};
    std::string flash_attention = "auto", cache_type_k = "f16", cache_type_v = "f16", products = "int8";
    bool json = false, no_warmup = false, rates = false, no_repack = false;
};

/// What is shown as the model, and its file: the one that was named, or one that is made up, large enough that its weights don't
/// stay in a cache.
std::pair<std::string, std::shared_ptr<const gguf::File>> model_of(const RunOptions& run) {
    if (!run.model.empty()) {
        return {run.model, std::make_shared<const gguf::File>(gguf::File::open(run.model))};
    }
    return {"built-in llama, 110M, q8_0",
            std::make_shared<const gguf::File>(synthesise_in_memory(synth_preset("llama", "110m"), Type::Q8_0, 1, "built-in"))};
}

void refuse(const std::string& why) { throw Error(ErrorKind::usage, "bench: " + why); }

void check(const BenchArguments& o) {
    const BenchRequest& q = o.against.bench;
    if (q.n_prompt == 0 && q.n_generate == 0) {
        refuse("-p 0 and -n 0: nothing is left to measure");
    }
    if (o.rates && (q.devices.size() > 1 || o.threads.size() > 1 || q.depths.size() > 1 || q.batches.size() > 1)) {
        refuse("--rates are of one test: one --device, -t, -d and --batches");
    }
    if (o.rates && !o.against.command.empty()) {
        refuse("--rates are what --against reads: give one of them");
    }
    if (!o.against.command.empty() && q.run.model.empty()) {
        refuse("--against needs a model that both can read (-m)");
    }
    if (!o.against.command.empty() && q.batches != std::vector<int32_t>{1}) {
        refuse("--against compares single sequences; leave out --batches");
    }
}

/// All that settles a repetition of ours in a process of its own, beside what the case does.
std::vector<std::string> own_arguments(const BenchArguments& o) {
    const RunOptions& r = o.against.bench.run;
    std::vector<std::string> all = {"--rates", "--repetitions", "1", "--model", r.model};
    const auto add = [&](const char* option, const std::string& value) {
        all.emplace_back(option);
        all.push_back(value);
    };
    add("--gpu-layers", std::to_string(r.n_gpu_layers));
    add("--batch-size", std::to_string(r.n_batch));
    add("--ubatch-size", std::to_string(r.n_ubatch));
    add("--flash-attn", o.flash_attention);
    add("--cache-type-k", o.cache_type_k);
    add("--cache-type-v", o.cache_type_v);
    add("--cpu-products", o.products);
    if (o.no_repack) {
        all.emplace_back("--no-repack");
    }
    if (o.no_warmup) {
        all.emplace_back("--no-warmup");
    }
    return all;
}

int run(BenchArguments& o) {
    catch_interrupts();
    BenchRequest& q = o.against.bench;
    RunOptions& r = q.run;
    r.flash_attention = *flash_attention_from_name(o.flash_attention);
    r.products = products_from(o.products);
    r.repack = !o.no_repack;
    r.cache_type_k = *type_from_name(o.cache_type_k);
    r.cache_type_v = *type_from_name(o.cache_type_v);
    if (q.devices.empty()) {
        q.devices.emplace_back(); // every GPU, then the CPU
    }
    for (const int32_t n_threads : o.threads) {
        q.threads.push_back(n_threads > 0 ? n_threads : physical_cores());
    }
    check(o);
    const Registry registry;
    for (const std::string& list : q.devices) {
        registry.select(list); // refuses an unknown one before anything is measured
    }
    const auto [name, file] = model_of(r);
    const BenchWork work(*file, r);
    q.stop = &interrupt_flag();
    q.warm_up = !o.no_warmup;
    if (o.rates) {
        q.overheads = false;
        const std::vector<BenchCase> cases = run_bench(registry, file, q);
        if (!interrupted()) {
            std::cout << rates_text(cases.front()) << '\n';
        }
        return 0;
    }
    ProgressLine progress;
    q.progress = [&](std::string_view doing) { progress.say(std::string(doing)); };
    q.progress("the machine");
    BenchSetting setting{name, file, q, work, {}};
    for (const int n_threads : q.threads) {
        setting.machines.emplace_back(n_threads, machine_limits(n_threads));
    }
    const auto print = [&](const auto& cases, auto... command) {
        progress.clear();
        if (interrupted()) {
            return;
        }
        if (o.json) {
            print_json(cases_json(cases, setting, command...));
        } else {
            print_cases(cases, setting);
        }
    };
    if (o.against.command.empty()) {
        print(run_bench(registry, file, q));
        return 0;
    }
    o.against.own_arguments = own_arguments(o);
    print(run_against(o.against), o.against.command);
    return 0;
}

} // namespace

CommandAction add_bench(CommandOptions& app) {
    auto options = std::make_shared<BenchArguments>();
    BenchRequest& q = options->against.bench;
    app.add_option("-m,--model", q.run.model, "GGUF file (default: a made-up llama of 110 million parameters)");
    app.add_option("--device", q.devices,
                   "Devices by priority: vulkan0,cpu (default: every GPU found, then cpu); again: compared")
        .one_value_each();
    app.add_option("-p,--n-prompt", q.n_prompt, "Tokens of the prompt; 0: none").show_default().within(0, 1 << 24);
    app.add_option("-n,--n-gen", q.n_generate, "Tokens generated, one by one; 0: none").show_default().within(0, 1 << 24);
    app.add_option("-d,--n-depth", q.depths, "Tokens in front of what is measured: 0,1500,4000")
        .delimiter(',')
        .within(0, 1 << 24);
    app.default_text("--n-depth", "0");
    app.add_option("--batches", q.batches, "Sequences that are generated together, a token of each at once: 1,4,8,16,32")
        .delimiter(',')
        .within(1, max_sequences);
    app.default_text("--batches", "1");
    app.add_option("-r,--repetitions", q.repetitions, "How often each is measured").show_default().within(1, 1000);
    app.add_option("-t,--threads", options->threads, "Threads: 1,4; all: physical cores")
        .delimiter(',')
        .within(0, 4096)
        .or_word("all", 0);
    app.default_text("--threads", "all");
    add_layers_option(app, q.run.n_gpu_layers);
    app.add_option("-b,--batch-size", q.run.n_batch, "Tokens decoded together").show_default().within(1, 1 << 24);
    app.add_option("--ub,--ubatch-size", q.run.n_ubatch, "Tokens in one evaluation").show_default().within(1, 1 << 24);
    app.add_option("--fa,--flash-attn", options->flash_attention, "on|off|auto: flash attention")
        .show_default()
        .one_of({"on", "off", "auto"});
    add_cache_type_option(app, "keys", options->cache_type_k);
    add_cache_type_option(app, "values", options->cache_type_v);
    add_products_option(app, options->products);
    add_repack_option(app, options->no_repack);
    app.add_flag("--no-warmup", options->no_warmup, "Count the first run of each, too");
    app.add_option("--against", options->against.command,
                   "Shell command of another program to measure in turns with this one: see help models")
        .check([](const std::string& command) { return command.empty() ? "a command is missing" : ""; });
    app.add_flag("--rates", options->rates, "Print the rates of a single test alone, as --against reads them");
    app.add_flag("--json", options->json, "Print JSON");
    return [options] { return run(*options); };
}

} // namespace schedscope
