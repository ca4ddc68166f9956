#pragma once

#include <cstdint>

namespace schedscope {

namespace gguf {
class Writer;
}

/// Control tokens, the bytes, and a letter or word each for the rest.
constexpr int32_t synth_vocabulary_least = 300;

/// A SentencePiece vocabulary of n tokens: <unk>, <s>, </s>, the bytes, letters, common words, then numbered syllables.
void add_synth_vocabulary(gguf::Writer& writer, int32_t n);

} // namespace schedscope
