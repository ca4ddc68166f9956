#pragma once

#include "inspector/cli/line/command_options.h"
#include "inspector/cli/run/recording_bounds.h"
#include "runtime/session/generate.h"
#include "runtime/session/run_options.h"
#include "runtime/vision/image.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// The options that `run`, `record` and `inspect -m` share: what CLI11 fills in.
struct RunArguments {
    RunOptions run;
    std::string prompt, prompt_file, flash_attention = "auto", cache_type_k = "f16", cache_type_v = "f16";
    std::string products = "int8";
    std::string cpu_mask, cpu_range;
    std::string kernel_times; ///< empty: the usual ones
    std::vector<int32_t> tokens;
    std::vector<std::string> sequences, samplers, logit_bias, watch, images;
    std::vector<vision::Image> pictures; ///< the images' pixels; read by `settle`, before any model is loaded
    int32_t n_predict = 128;
    int32_t n_prompt = 0; ///< of a dry run: tokens, in place of a prompt; 0: none
    bool no_op_offload = false, no_fusion = false, no_text = false, no_warmup = false, no_mmap = false, no_repack = false;
    bool logits_all = false, stats = false, step = false;
    std::string logits_out;
    std::string scored_file;                ///< --ppl; empty: text is generated
    std::string record;                     ///< trace to write; empty: none
    const char* record_option = "--record"; ///< that names it
    bool force = false;                     ///< the trace may replace a file that is no trace
    BoundArguments bounds;                  ///< of `record`
    uint32_t seed = 0;
    CommandOption prompt_option;
    CommandOption seed_option;
    CommandOption mask_option, range_option;
};

/// --cpu-products, for other commands that compute as well, and what it says.
CommandOption add_products_option(CommandOptions& app, std::string& products);
Products products_from(const std::string& name);
/// --no-repack, for such commands as well.
void add_repack_option(CommandOptions& app, bool& no_repack, const std::string& group = {});
/// -ctk (of: "keys") or -ctv ("values"), for `bench` as well.
CommandOption add_cache_type_option(CommandOptions& app, std::string_view of, std::string& type);
/// -ngl, for `bench` as well.
CommandOption add_layers_option(CommandOptions& app, int32_t& n_gpu_layers);

/// Gives the command those options. The result is filled when the command line was parsed.
std::shared_ptr<RunArguments> add_run_options(CommandOptions& app);

/// Settles what CLI11 can't (types, lists, files): fills `arguments.run`. Throws Error(usage, input).
void settle(RunArguments& arguments);

/// Is there a prompt of any kind, or a text to score?
bool has_prompt(const RunArguments& arguments);

/// What to generate. Reads the prompt's file. Throws Error(usage, input).
GenerateRequest make_request(const RunArguments& arguments, Session& session);

} // namespace schedscope
