#include "inspector/cli/commands/commands.h"

#include <array>

namespace schedscope {

std::span<const Command> commands() {
    static constexpr std::array table = {
        Command{"demo", "A built-in model on the devices found, in the inspector", add_demo},
        Command{"run", "Generate text", add_run},
        Command{"record", "Generate text and record every decision to a trace", add_record},
        Command{"inspect", "The inspector over a trace, or over a running program", add_inspect},
        Command{"attach", "Join a program that runs: record it, or show it in the inspector", add_attach},
        Command{"show", "What a trace holds", add_show},
        Command{"explain", "The story of one tensor: which backend, which pass, which rule, who refused", add_explain},
        Command{"dot", "Pictures of a plan", add_dot},
        Command{"replay", "Plan again from a trace and compare each decision", add_replay},
        Command{"diff", "Compare two traces: their graphs aligned, what was decided differently", add_diff},
        Command{"verify", "Each node on two backends: the error of each, and the first beyond tolerance", add_verify},
        Command{"import", "A trace from the log of a ggml program's scheduler", add_import},
        Command{"export", "A trace in other formats", add_export},
        Command{"gguf", "Header, metadata and tensors of a model file", add_gguf},
        Command{"devices", "What was found, and what it can do", add_devices},
        Command{"tokenize", "Text to token ids", add_tokenize},
        Command{"embed-image", "The embeddings of an image, as the text model would read them", add_embed_image},
        Command{"synth", "A model with random weights, the same on every machine", add_synth},
        Command{"bench", "How fast a model runs, what planning and recording cost, against what the machine can do", add_bench},
        Command{"help", "The manual, topic by topic", add_help},
    };
    return table;
}

} // namespace schedscope
