#pragma once

/// Every architecture once, in the order in which people choose among them: arch/NAME.cpp defines NAME_architecture,
/// synth/NAME.cpp synth_NAME.
#define SCHEDSCOPE_ARCHITECTURES(X) X(llama) X(qwen2) X(qwen3) X(qwen3moe) X(falcon) X(phi3) X(gemma) X(gemma2) X(gemma3)
