#pragma once

#include "inspector/cli/line/command.h"

namespace schedscope {

// One per file cmd_NAME.cpp.
Action add_demo(CLI::App& app);
Action add_run(CLI::App& app);
Action add_record(CLI::App& app);
Action add_inspect(CLI::App& app);
Action add_show(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_dot(CLI::App& app);
Action add_replay(CLI::App& app);
Action add_diff(CLI::App& app);
Action add_verify(CLI::App& app);
Action add_import(CLI::App& app);
Action add_export(CLI::App& app);
Action add_gguf(CLI::App& app);
Action add_devices(CLI::App& app);
Action add_tokenize(CLI::App& app);
Action add_embed_image(CLI::App& app);
Action add_synth(CLI::App& app);
Action add_bench(CLI::App& app);

} // namespace schedscope
