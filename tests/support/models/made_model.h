#pragma once

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/gguf/writer.h"
#include "runtime/model/synth/synth.h"

#include <functional>
#include <memory>
#include <set>
#include <string>

/// Small models in memory, whole or with one thing wrong.
namespace schedscope::test {

inline SynthShape small_shape() {
    SynthShape s;
    s.n_vocab = 320;
    s.n_layer = 3;
    s.n_embd = 64;
    s.n_ff = 96;
    return s;
}

/// A copy of a made-up llama, changed: keys are set by `change`, tensors in `without` are left out, tensors in `reshaped` lose a
/// row.
inline std::shared_ptr<gguf::File> changed_model(const std::function<void(gguf::Writer&)>& change,
                                                 const std::set<std::string, std::less<>>& without = {},
                                                 const std::set<std::string, std::less<>>& reshaped = {},
                                                 const SynthShape& shape = small_shape()) {
    const gguf::File source = synthesise_in_memory(shape, Type::F32, 1, "source");
    gguf::Writer writer;
    for (const gguf::MetadataEntry& e : source.metadata()) {
        writer.set(e.key, e.value);
    }
    change(writer);
    for (const gguf::FileTensor& t : source.tensors()) {
        Shape ne = t.ne;
        size_t bytes = t.bytes;
        if (reshaped.contains(t.name)) {
            bytes -= row_bytes(t.type, ne[0]);
            --ne[1];
        }
        if (!without.contains(t.name)) {
            writer.add(t.name, t.type, ne, std::span(t.data, bytes));
        }
    }
    return std::make_shared<gguf::File>(gguf::File::from_bytes(writer.to_bytes(), "made.gguf"));
}

inline std::shared_ptr<gguf::File> made_model(const SynthShape& shape = small_shape(), Type type = Type::F32) {
    return std::make_shared<gguf::File>(synthesise_in_memory(shape, type, 1, "made.gguf"));
}

/// The error's sentence; empty when there is none.
inline std::string sentence_of(ErrorKind kind, const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& e) {
        return e.kind() == kind ? e.what() : "of another kind: " + std::string(e.what());
    }
    return "";
}

} // namespace schedscope::test
