#include "inspector/cli/run/run_arguments.h"

#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/text_input.h"
#include "inspector/cli/run/device_profiles.h"
#include "inspector/cli/run/image_prompt.h"
#include "inspector/cli/run/watch_patterns.h"
#include "runtime/context/kv_cache.h"
#include "runtime/error.h"
#include "runtime/sampling/make_chain.h"
#include "runtime/session/session.h"
#include "runtime/system/read_number.h"
#include "runtime/text/tokenizer.h"
#include "runtime/vision/read_image.h"

#include <algorithm>
#include <cmath>

namespace schedscope {

namespace {

void add_thread_options(CommandOptions& app, RunArguments& a, const char* group) {
    app.add_option("-t,--threads", a.run.n_threads, "Threads (default: physical cores)").within(0, 4096).group(group);
    app.add_option("--tb,--threads-batch", a.run.n_threads_batch,
                   "Threads for several tokens at once, as in prompts (default: as -t)")
        .within(0, 4096)
        .group(group);
    a.mask_option =
        app.add_option("-C,--cpu-mask", a.cpu_mask, "Processors for these threads, a hexadecimal mask: 0xff (default: any)")
            .group(group);
    a.range_option = app.add_option("--Cr,--cpu-range", a.cpu_range, "The same as a range: 0-7; with -C: both").group(group);
}

/// Those of -C and -Cr that are here; of none: neither is given.
ProcessorSet processors_of(const RunArguments& a) {
    ProcessorSet wanted;
    const auto add = [&wanted](const CommandOption& option, const std::string& text, ProcessorSet (*read)(std::string_view),
                               const char* name) {
        try {
            wanted |= option.given() ? read(text) : ProcessorSet();
        } catch (const Error& e) {
            throw Error(e.kind(), name + std::string(" ") + e.what());
        }
    };
    add(a.mask_option, a.cpu_mask, ProcessorSet::of_mask, "-C");
    add(a.range_option, a.cpu_range, ProcessorSet::of_range, "-Cr");
    const ProcessorSet here = ProcessorSet::usable();
    if (here.empty() || wanted.empty()) {
        return wanted;
    }
    ProcessorSet both = wanted;
    both &= here;
    if (both.empty()) {
        const std::string said = a.cpu_mask.empty() ? "-Cr " + a.cpu_range : "-C " + a.cpu_mask;
        throw Error(ErrorKind::usage, said + ": processors " + wanted.text() + " are not here; there are " + here.text());
    }
    return both;
}

void add_model_options(CommandOptions& app, RunArguments& a) {
    const char* group = "Model and prompt";
    app.add_option("-m,--model", a.run.model, "GGUF file").group(group);
    a.prompt_option = app.add_option("-p,--prompt", a.prompt, "Prompt").group(group);
    const CommandOption file =
        app.add_option("-f,--file", a.prompt_file, "File with the prompt").group(group).excludes(a.prompt_option);
    app.add_option("--tokens", a.tokens, "Prompt as token ids, BOS included: 1,403,…")
        .delimiter(',')
        .group(group)
        .excludes(a.prompt_option)
        .excludes(file);
    app.add_option("--seq", a.sequences, "ID:PROMPT, one more sequence in the batch (repeatable)").group(group).one_value_each();
    app.add_option("-n,--predict,--n-predict", a.n_predict,
                   "Tokens to generate; 0: the prompt only; -1: until the end or the context is full")
        .show_default()
        .within(-1, 1 << 30)
        .group(group);
    app.add_option("-c,--ctx-size", a.run.n_ctx,
                   "Context, in tokens; 0: the model's training length (default: 4096, or that if it is smaller)")
        .within(0, 1 << 30)
        .group(group);
    app.add_option("-b,--batch-size", a.run.n_batch, "Tokens decoded together").show_default().within(1, 1 << 24).group(group);
    app.add_option("--ub,--ubatch-size", a.run.n_ubatch, "Tokens in one evaluation")
        .show_default()
        .within(1, 1 << 24)
        .group(group);
    add_thread_options(app, a, group);
    app.add_option("--ppl", a.scored_file, "Print the perplexity of a text file instead of generating").group(group);
    app.add_option("--mmproj", a.run.mmproj, "GGUF file of the image encoder and its projector").group(group);
    app.add_option("--image", a.images, "Image for the prompt, where it says <image>, else in front (repeatable)")
        .group(group)
        .one_value_each();
    app.add_flag("--image-newline", a.run.image_newline, "Of tiled images: leave out the padding, and mark the ends of rows",
                 group);
    app.add_flag("--context-shift", a.run.context_shift, "When the context is full, forget half of what follows the first token",
                 group);
}

void add_sampling_options(CommandOptions& app, RunArguments& a) {
    const char* group = "Sampling";
    SamplingOptions& s = a.run.sampling;
    a.seed_option = app.add_option("-s,--seed", a.seed, "Seed (default: random); given, everything repeats").group(group);
    app.add_option("--temp", s.temperature, "Temperature; 0: greedy (default: 0.8)").group(group);
    app.add_option("--top-k", s.top_k, "Keep the k likeliest; 0: all (default: 40)").group(group);
    app.add_option("--top-p", s.top_p, "Keep the likeliest that sum up to p (default: 0.95)").group(group);
    app.add_option("--min-p", s.min_p, "Keep those at least p times as likely as the likeliest (default: 0.05)").group(group);
    app.add_option("--repeat-penalty", s.repeat_penalty, "Penalty of repeated tokens (default: 1, none)").group(group);
    app.add_option("--repeat-last-n", s.repeat_last_n, "Tokens that count as repeated (default: 64)").group(group);
    app.add_option("--frequency-penalty", s.frequency_penalty, "Penalty by count (default: 0)").group(group);
    app.add_option("--presence-penalty", s.presence_penalty, "Penalty for presence (default: 0)").group(group);
    app.add_option("--logit-bias", a.logit_bias, "ID+V or ID-V, added to a token's logit (repeatable)")
        .group(group)
        .one_value_each();
    app.add_option("--sampler", a.samplers,
                   "ID:top_k=40;temp=0.8;dist, the chain of a sequence (repeatable); cpu: in front keeps a sampler off the graph")
        .group(group)
        .one_value_each();
    app.add_flag("--bs,--backend-sampling", a.run.sample_in_graph,
                 "Sample in the graph, behind the logits, as far as samplers and devices can", group);
    app.add_flag("--ignore-eos", s.ignore_eos, "Never choose a token that ends the generation", group);
}

} // namespace

CommandOption add_products_option(CommandOptions& app, std::string& products) {
    return app
        .add_option("--cpu-products", products,
                    "int8|float: on the CPU quantised weights times numbers of 8 bits and BF16 times BF16, as in llama.cpp, or "
                    "times floats")
        .show_default()
        .one_of(
            std::vector<std::string>{std::string(products_name(Products::int8)), std::string(products_name(Products::floats))});
}
Products products_from(const std::string& name) {
    return name == products_name(Products::int8) ? Products::int8 : Products::floats;
}

void add_repack_option(CommandOptions& app, bool& no_repack, const std::string& group) {
    app.add_flag("--no-repack", no_repack, "Leave weights as they lie in the file, where the CPU alone multiplies them", group);
}

CommandOption add_cache_type_option(CommandOptions& app, std::string_view of, std::string& type) {
    std::vector<std::string> names;
    std::string all;
    for (const Type t : cache_types()) {
        names.emplace_back(type_name(t));
        all += (all.empty() ? "" : "|") + names.back();
    }
    const std::string letter(of.substr(0, 1));
    return app.add_option("--ct" + letter + ",--cache-type-" + letter, type, "Type of the cached " + std::string(of) + ": " + all)
        .show_default()
        .one_of(names);
}

CommandOption add_layers_option(CommandOptions& app, int32_t& n_gpu_layers) {
    return app
        .add_option("--ngl,--gpu-layers,--n-gpu-layers", n_gpu_layers,
                    "The output layer and the last N-1 blocks go to devices; or all")
        .show_default()
        .within(0, 1 << 30)
        .or_word("all", all_gpu_layers);
}

namespace {

void add_device_options(CommandOptions& app, RunArguments& a) {
    const char* group = "Devices and scheduling";
    app.add_option("--device", a.run.devices, "Devices by priority: vulkan0,blas,cpu (default: every GPU found, then cpu)")
        .group(group);
    add_layers_option(app, a.run.n_gpu_layers).group(group);
    app.add_option("--ts,--tensor-split", a.run.tensor_split, "Shares of the devices: 3,1 (default: by memory)")
        .delimiter(',')
        .group(group);
    app.add_option("--ot,--override-tensor", a.run.overrides, "PATTERN=DEVICE, a regular expression on tensor names (repeatable)")
        .group(group)
        .one_value_each();
    app.add_flag("--nkvo,--no-kv-offload", a.run.cache_on_host, "Keep the KV cache on the host", group);
    app.add_flag("--no-op-offload", a.no_op_offload, "Don't compute with host weights on a device", group);
    app.add_option("--offload-min-batch", a.run.offload_min_batch, "Rows from which an operator with host weights is offloaded")
        .show_default()
        .within(1, 1 << 30)
        .group(group);
    app.add_option("--stages", a.run.stages, "Copies of each input: 1, or 4 for a pipeline")
        .show_default()
        .one_of({1, 4})
        .group(group);
    app.add_option("--fa,--flash-attn", a.flash_attention, "on|off|auto: flash attention")
        .show_default()
        .one_of({"on", "off", "auto"})
        .group(group);
    add_cache_type_option(app, "keys", a.cache_type_k).group(group);
    add_cache_type_option(app, "values", a.cache_type_v).group(group);
    app.add_flag("--no-fusion", a.no_fusion, "Run each node as a kernel of its own", group);
    add_products_option(app, a.products).group(group);
    add_repack_option(app, a.no_repack, group);
    app.add_flag("--no-mmap", a.no_mmap, "Read the host's weights into memory, instead of mapping the file", group);
    app.add_flag("--mlock", a.run.mlock, "Keep the host's weights from being paged out", group);
    app.add_flag("--no-warmup", a.no_warmup, "Begin without a run that is neither recorded nor counted", group);
}

void add_output_options(CommandOptions& app, RunArguments& a) {
    const char* group = "Output";
    app.add_option("--logits-out", a.logits_out, "File for the logits that tokens are chosen from: little-endian float32 rows")
        .group(group);
    app.add_flag("--logits-all", a.logits_all, "One row for each prompt token, too", group);
    app.add_option("--watch", a.watch,
                   "Record what the tensors hold that match a query: a part of a name, name=kq-3, op=SOFT_MAX, … (repeatable)")
        .group(group)
        .one_value_each();
    app.add_option("--kernel-times", a.kernel_times, "What a recording times: each kernel, each split as a whole, or nothing")
        .one_of({"kernels", "splits", "none"})
        .group(group);
    app.default_text("--kernel-times", "kernels of cpu and blas, splits of other devices");
    app.add_flag("--no-text", a.no_text, "Leave prompts and text out of the trace", group);
    app.add_flag("--stats", a.stats, "Print timings to standard error", group);
}

std::pair<int32_t, float> parse_bias(const std::string& text) {
    const size_t sign = text.find_first_of("+-", 1);
    if (sign != std::string::npos) {
        const std::string_view all = text;
        const auto id = read_number<int32_t>(all.substr(0, sign));
        const auto value = read_number<float>(all.substr(sign + (text[sign] == '+' ? 1 : 0)));
        if (id && value && *id >= 0 && (std::isfinite(*value) || *value < 0)) { // −∞ forbids it
            return {*id, *value};
        }
    }
    throw Error(ErrorKind::usage, "--logit-bias " + text + ": expected ID+VALUE or ID-VALUE (ID-inf: never)");
}

/// "ID:REST".
std::pair<int32_t, std::string> parse_sequence(const char* option, const std::string& text) {
    const size_t colon = text.find(':');
    if (colon != std::string::npos) {
        const auto id = read_number<int32_t>(std::string_view(text).substr(0, colon));
        if (id && *id >= 0) {
            return {*id, text.substr(colon + 1)};
        }
    }
    throw Error(ErrorKind::usage, std::string(option) + " " + text + ": expected ID:TEXT with a sequence id from 0");
}

/// Text where an image belongs would be read as letters. In sequences there are no images.
const std::string& without_places(const std::string& option, const std::string& text, const RunArguments& a) {
    if (!a.run.mmproj.empty() && text.find(image_place) != std::string::npos) {
        throw Error(ErrorKind::usage,
                    option + ": it has a place for an image (<image>), but " +
                        (option == "--seq" ? "images go into the prompt of -p, -f or --tokens" : "none is given (--image)"));
    }
    return text;
}

/// Nothing that is read is written over.
void check_files(const RunArguments& a) {
    NamedFiles files;
    files.reads_model("-m", a.run.model);
    files.reads_model("--mmproj", a.run.mmproj);
    for (const std::string& path : a.images) {
        files.reads("--image", path);
    }
    files.reads("-f", a.prompt_file);
    add_described(files, a.run.devices);
    files.reads("--ppl", a.scored_file);
    files.writes(a.record_option, a.record);
    files.writes("--logits-out", a.logits_out);
    files.check();
}

} // namespace

std::shared_ptr<RunArguments> add_run_options(CommandOptions& app) {
    auto arguments = std::make_shared<RunArguments>();
    add_model_options(app, *arguments);
    add_sampling_options(app, *arguments);
    add_device_options(app, *arguments);
    add_output_options(app, *arguments);
    return arguments;
}

void settle(RunArguments& a) {
    if (a.run.model.empty()) {
        throw Error(ErrorKind::usage, "-m: no model given");
    }
    check_files(a);
    a.run.op_offload = !a.no_op_offload;
    a.run.fusion = !a.no_fusion;
    a.run.mmap = !a.no_mmap;
    a.run.repack = !a.no_repack;
    a.run.products = products_from(a.products);
    a.run.processors = processors_of(a);
    a.run.record_text = !a.no_text;
    if (!a.kernel_times.empty()) {
        a.run.kernel_times = kernel_times_from_name(a.kernel_times);
    }
    a.run.flash_attention = *flash_attention_from_name(a.flash_attention);
    a.run.cache_type_k = *type_from_name(a.cache_type_k);
    a.run.cache_type_v = *type_from_name(a.cache_type_v);
    if (a.seed_option.given()) {
        a.run.seed = a.seed;
    }
    for (const std::string& text : a.logit_bias) {
        a.run.sampling.logit_bias.push_back(parse_bias(text));
    }
    const bool prompt = a.prompt_option.given() || !a.prompt_file.empty() || !a.tokens.empty() || !a.sequences.empty();
    if (a.n_prompt > 0 && (prompt || !a.images.empty() || !a.scored_file.empty())) {
        throw Error(ErrorKind::usage, "--n-prompt: stands in place of a prompt, and goes with none");
    }
    if (!a.scored_file.empty() && (prompt || !a.logits_out.empty())) {
        throw Error(ErrorKind::usage, "--ppl: scores a file, and goes with no prompt and no --logits-out");
    }
    if (!a.images.empty() && a.run.mmproj.empty()) {
        throw Error(ErrorKind::usage, "--image: needs an image encoder (--mmproj)");
    }
    if (!a.images.empty() && !a.scored_file.empty()) {
        throw Error(ErrorKind::usage, "--ppl: scores a text, without images");
    }
    for (const std::string& path : a.images) {
        a.pictures.push_back(vision::read_image(path, {.cancelled = interrupted}));
    }
    if (!a.watch.empty()) {
        a.run.watcher = std::make_shared<WatchPatterns>(a.watch);
    }
    if (a.logits_all && a.logits_out.empty()) {
        throw Error(ErrorKind::usage, "--logits-all: goes with --logits-out");
    }
}

bool has_prompt(const RunArguments& a) {
    return !a.prompt.empty() || !a.prompt_file.empty() || !a.tokens.empty() || !a.sequences.empty() || !a.images.empty() ||
           !a.scored_file.empty() || a.n_prompt > 0;
}

GenerateRequest make_request(const RunArguments& a, Session& session) {
    GenerateRequest request;
    request.n_predict = a.n_predict;
    request.warm_up = !a.no_warmup;
    request.all_logits = a.logits_all;
    const auto encode = [&](const std::string& text) { return session.tokenizer().encode(text, true, true); };
    const bool only_sequences = !a.sequences.empty() && a.tokens.empty() && !a.prompt_option.given() && a.prompt_file.empty();
    if (!a.images.empty()) {
        request.prompts.push_back(image_prompt(a, session));
    } else if (!a.tokens.empty()) {
        request.prompts.push_back({0, a.tokens});
    } else if (a.n_prompt > 0) {
        request.prompts.push_back({0, std::vector<Token>(a.n_prompt, 0)}); // which ones makes no difference to a plan
    } else if (!only_sequences) {
        const std::string text = a.prompt_file.empty() ? a.prompt : read_file(a.prompt_file);
        request.prompts.push_back({0, encode(without_places("prompt", text, a))});
    }
    for (const std::string& text : a.sequences) {
        const auto [id, prompt] = parse_sequence("--seq", text);
        request.prompts.push_back({id, encode(without_places("--seq", prompt, a))});
    }
    for (const std::string& text : a.samplers) {
        const auto [id, chain] = parse_sequence("--sampler", text);
        const auto of = std::find_if(request.prompts.begin(), request.prompts.end(),
                                     [id = id](const SequencePrompt& p) { return p.sequence == id; });
        if (of == request.prompts.end()) {
            throw Error(ErrorKind::usage, "--sampler " + text + ": there is no sequence " + std::to_string(id));
        }
        if (of->chain) {
            throw Error(ErrorKind::usage, "--sampler " + text + ": sequence " + std::to_string(id) + " has one already");
        }
        of->chain = parse_chain(chain, session.sampling(), session.seed() + id);
    }
    return request;
}

} // namespace schedscope
