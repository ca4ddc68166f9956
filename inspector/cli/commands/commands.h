#pragma once

#include "inspector/cli/line/command.h"

namespace schedscope {

// One per file cmd_NAME.cpp.
Action add_demo(CommandOptions& options);
Action add_run(CommandOptions& options);
Action add_record(CommandOptions& options);
Action add_inspect(CommandOptions& options);
Action add_show(CommandOptions& options);
Action add_explain(CommandOptions& options);
Action add_dot(CommandOptions& options);
Action add_replay(CommandOptions& options);
Action add_diff(CommandOptions& options);
Action add_verify(CommandOptions& options);
Action add_import(CommandOptions& options);
Action add_export(CommandOptions& options);
Action add_gguf(CommandOptions& options);
Action add_devices(CommandOptions& options);
Action add_tokenize(CommandOptions& options);
Action add_embed_image(CommandOptions& options);
Action add_synth(CommandOptions& options);
Action add_bench(CommandOptions& options);

} // namespace schedscope
