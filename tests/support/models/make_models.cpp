// Makes the models that tests run: make_models FOLDER.
#include "runtime/gguf/gguf.h"
#include "runtime/gguf/writer.h"
#include "runtime/model/synth/synth.h"
#include "runtime/ops/type.h"
#include "runtime/tensor/convert.h"
#include "runtime/vision/synth_llava.h"
#include "tests/support/models/teller.h"

#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>

using namespace schedscope;

namespace {

/// Of stories260K, but for the output, which has weights of its own: a made-up text can't be told by the embedding alone.
SynthShape teller_shape() {
    SynthShape s;
    s.n_vocab = teller::n_vocab;
    s.n_layer = 5;
    s.n_ff = 172;
    s.n_head = 8;
    s.n_head_kv = 4;
    return s;
}

/// Random values of variance 1 in rows of `width`, one row for each token; a token that is no word lies near a word, so that its
/// successor is certain, too.
std::vector<float> embedding(size_t width) {
    std::mt19937 random(260);
    const auto value = [&] { return (static_cast<float>(random() >> 8U) * 0x1p-24F - 0.5F) * std::sqrt(12.0F); };
    std::vector<float> rows(teller::n_vocab * width);
    const auto row = [&](int32_t id) { return rows.data() + static_cast<size_t>(id) * width; };
    for (int32_t id = teller::first_word; id < teller::n_vocab; ++id) {
        for (size_t i = 0; i < width; ++i) {
            row(id)[i] = value();
        }
    }
    for (int32_t id = 0; id < teller::first_word; ++id) {
        const float* word = row(teller::first_word + id % teller::n_words());
        for (size_t i = 0; i < width; ++i) {
            row(id)[i] = 0.9F * word[i] + 0.3F * value();
        }
    }
    // The word behind the last is the first: BOS lies where the last word does.
    const float* last = row(teller::ids(static_cast<size_t>(teller::n_words())).back());
    std::copy_n(last, width, row(1));
    return rows;
}

/// The row of each word is the embedding of the word before it, a ninth of it: then the next word is likely, not certain. All
/// other rows are zeros.
std::vector<float> output(const std::vector<float>& embedding, size_t width) {
    std::vector<float> rows(embedding.size());
    const std::vector<int32_t> words = teller::ids(static_cast<size_t>(teller::n_words()));
    for (size_t i = 0; i < words.size(); ++i) {
        const auto before = static_cast<size_t>(words[(i + words.size() - 1) % words.size()]),
                   now = static_cast<size_t>(words[i]);
        for (size_t j = 0; j < width; ++j) {
            rows[now * width + j] = embedding[before * width + j] / 9;
        }
    }
    return rows;
}

/// What a block adds to the stream is small beside what it was.
float scale_of(std::string_view name) {
    return name.ends_with("attn_output.weight") || name.ends_with("ffn_down.weight") ? 0.25F : 1.0F;
}

void make_teller(Type type, const std::string& path) {
    const gguf::File base = synthesise_in_memory(teller_shape(), Type::F32, 1, "base");
    gguf::Writer writer;
    for (const gguf::MetadataEntry& e : base.metadata()) {
        writer.set(e.key, e.value);
    }
    writer.set("general.name", "teller");
    writer.set("tokenizer.ggml.tokens", teller::vocabulary());
    std::vector<float> scores(teller::n_vocab);
    std::vector<int32_t> kinds(teller::n_vocab, 6); // bytes
    kinds[0] = 2;                                   // unknown
    kinds[1] = kinds[2] = 3;                        // control
    for (size_t id = 259; id < scores.size(); ++id) {
        scores[id] = -static_cast<float>(id - 259);
        kinds[id] = 1;
    }
    writer.set("tokenizer.ggml.scores", scores);
    writer.set("tokenizer.ggml.token_type", kinds);

    std::vector<float> embedded;
    for (const gguf::FileTensor& t : base.tensors()) {
        const auto width = static_cast<size_t>(t.ne[0]);
        std::vector<float> values(static_cast<size_t>(t.ne[0] * t.ne[1]));
        row_to_float(t.type, t.data, values.data(), t.ne[0] * t.ne[1]);
        if (t.name == "token_embd.weight") {
            values = embedded = embedding(width);
        } else if (t.name == "output.weight") {
            values = output(embedded, width);
        }
        for (float& v : values) {
            v *= scale_of(t.name);
        }
        const bool divides = t.ne[0] % traits(type).block == 0;
        writer.add(t.name, t.ne, std::move(values), t.ne[1] == 1 ? Type::F32 : divides ? type : Type::F16);
    }
    writer.write(path);
}

void make_photo(const std::string& path) {
    constexpr int side = 56;
    std::ofstream file(path, std::ios::binary);
    file << "P6\n" << side << ' ' << side << "\n255\n";
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            file << static_cast<char>(4 * x) << static_cast<char>(4 * y) << static_cast<char>(x * y / 13);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: make_models FOLDER\n";
        return 2;
    }
    try {
        const std::string folder = std::string(argv[1]) + "/";
        for (const auto& [name, type] :
             {std::pair{"f32", Type::F32}, {"f16", Type::F16}, {"q8_0", Type::Q8_0}, {"q4_0", Type::Q4_0}}) {
            make_teller(type, folder + "teller-" + name + ".gguf");
        }
        vision::synthesise_encoder(vision::encoder_preset("tiny"), Type::F32, 1, folder + "mmproj-tiny-f32.gguf");
        make_photo(folder + "test56.ppm");
    } catch (const std::exception& e) {
        std::cerr << "make_models: " << e.what() << '\n';
        return 3;
    }
}
