#pragma once

#include "runtime/system/process/sandbox.h"
#include "viz/pictures/picture.h"

namespace schedscope {

/// Lays `dot` out in a child process. renderer: svg, png or pdf; json0, the positions as data; dot, the text with positions.
/// `name`: what an error sentence begins with. Throws Error(device) when the child can't be started, fails, crashes, runs longer
/// than options.layout_seconds or is cancelled; the child is gone then.
std::string run_layout(const std::string& dot, const std::string& renderer, const PictureOptions& options,
                       const std::string& name);

/// What the child may take: it reads files, because Graphviz loads its plugins and fonts late, and writes none.
SandboxOptions layout_sandbox();

/// layout_child_main in another sandbox.
int play_layouter(int argc, char** argv, const SandboxOptions& sandbox);

} // namespace schedscope
