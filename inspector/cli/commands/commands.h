#pragma once

#include "inspector/cli/line/command.h"

namespace schedscope {

// One per file cmd_NAME.cpp.
CommandAction add_demo(CommandOptions& options);
CommandAction add_run(CommandOptions& options);
CommandAction add_record(CommandOptions& options);
CommandAction add_inspect(CommandOptions& options);
CommandAction add_attach(CommandOptions& options);
CommandAction add_show(CommandOptions& options);
CommandAction add_explain(CommandOptions& options);
CommandAction add_dot(CommandOptions& options);
CommandAction add_replay(CommandOptions& options);
CommandAction add_diff(CommandOptions& options);
CommandAction add_verify(CommandOptions& options);
CommandAction add_import(CommandOptions& options);
CommandAction add_export(CommandOptions& options);
CommandAction add_gguf(CommandOptions& options);
CommandAction add_devices(CommandOptions& options);
CommandAction add_tokenize(CommandOptions& options);
CommandAction add_embed_image(CommandOptions& options);
CommandAction add_synth(CommandOptions& options);
CommandAction add_bench(CommandOptions& options);
CommandAction add_help(CommandOptions& options);

} // namespace schedscope
