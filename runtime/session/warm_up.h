#pragma once

#include "runtime/session/generate.h"

namespace schedscope {

/// What a run pays once, paid before the run: shaders that the prompts, their images and a token behind them take are compiled,
/// and that one token is computed, so that weights are read from the disk (llama.cpp warms up with two tokens). A scheduler and a
/// context of its own, gone afterwards, do it: nothing is recorded or counted, no seed is used, and the session's scheduler and
/// memory are as they were. Does nothing in a session that only plans. What fails (there may be no room for a second context) is
/// left to the run to meet.
void warm_up(Session& session, const GenerateRequest& request);

} // namespace schedscope
