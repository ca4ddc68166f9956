// Models: the file, its vocabulary, and what kernels make of its weights. An input is
//
//     which sound file it begins with (1 byte; above 239: none, the rest is the file itself), how far it goes (1 byte), a text, a
//     list of edits (edited_gguf.h)
//
// Every file is read as a whole, and its vocabulary used. Those whose second byte divides by four are loaded as a model, and
// their weights expanded and multiplied. By sixteen: one in eight of them evaluates tokens. That takes ten times as long, and
// inputs that do it would soon be most; so chance decides (a sum of the input).

#include "runtime/context/inference_context.h"
#include "runtime/error.h"
#include "runtime/model/model.h"
#include "runtime/model/synth/synth.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/tensor/convert.h"
#include "runtime/text/tokenizer.h"
#include "tests/fuzz/edited_gguf.h"
#include "tests/fuzz/one_processor.h"
#include "tests/support/graphs/small_graph.h"

#include <algorithm>
#include <fuzzer/FuzzedDataProvider.h>
#include <string_view>

namespace schedscope::fuzz {

namespace {

constexpr size_t n_tokens = 48;

Machine& machine() {
    static Machine one;
    return one;
}

// ---- Sound files ----

SynthShape small_shape(std::string_view architecture) {
    SynthShape s;
    s.architecture = architecture;
    s.n_vocab = 300;
    s.n_ctx_train = 64;
    s.n_embd = 32;
    s.n_layer = 1;
    s.n_ff = 32;
    s.n_head = 2;
    s.n_head_kv = architecture == "phi3" ? 2 : 1;
    s.head_length = architecture == "phi3" ? 0 : 16;
    if (architecture == "phi3" || architecture.starts_with("gemma")) {
        s.window = 4;
    }
    if (architecture == "qwen3moe") {
        s.n_expert = 3;
        s.n_expert_used = 2;
        s.n_ff_expert = 32;
    }
    s.rope_factor = architecture == "llama" || architecture == "phi3" ? 4.0F : 1.0F;
    return s;
}

/// A byte-level vocabulary in the place of the pieces with scores.
void make_byte_level(EditedGguf& file, const char* pre_tokenizer) {
    std::vector<std::string> tokens{"<|endoftext|>", "<|im_end|>", "\xC4\xA0"};
    for (char c = 'a'; c <= 'z'; ++c) {
        tokens.emplace_back(1, c);
    }
    for (const char* more : {"1", "2", ".", "!", "'", "\xC4\x8A", "th", "the", "\xC4\xA0t", "\xC4\xA0the", "he", "in", "ing",
                             "\xC4\xA0"
                             "a",
                             "er", "on"}) {
        tokens.emplace_back(more);
    }
    while (tokens.size() < n_tokens) {
        tokens.push_back("x" + std::to_string(tokens.size()));
    }
    file.set_string("tokenizer.ggml.model", "gpt2");
    file.set_string("tokenizer.ggml.pre", pre_tokenizer);
    file.set_strings("tokenizer.ggml.tokens", tokens);
    file.set_strings("tokenizer.ggml.merges",
                     {"t h", "th e", "\xC4\xA0 t", "\xC4\xA0t he", "h e", "i n", "in g", "\xC4\xA0 a", "e r", "o n"});
    file.remove("tokenizer.ggml.scores");
}

std::vector<EditedGguf> sound_files() {
    std::vector<EditedGguf> files;
    for (const SynthArchitecture* a : synth_architectures()) {
        const Type type = a->name == "qwen2"    ? Type::Q4_0
                          : a->name == "falcon" ? Type::F16
                          : a->name == "gemma"  ? Type::Q8_0
                                                : Type::F32;
        files.emplace_back(synthesise_in_memory(small_shape(a->name), type, 1, "sound")).keep_tokens(n_tokens);
    }
    // Vocabularies of the other kind, whose rules are compiled for each input: the more there are, the slower.
    make_byte_level(files[1], "qwen2");
    make_byte_level(files[4], "falcon");
    // All types, in tensors of their own.
    EditedGguf& all = files.emplace_back(files[0]);
    for (uint8_t type = 0; type < static_cast<uint8_t>(Type::count); ++type) {
        if (gguf::file_type_number(static_cast<Type>(type))) {
            all.add_tensor("t" + std::to_string(type), static_cast<Type>(type), {256, 2});
        }
    }
    return files;
}

// ---- What is done with a file ----

void look(const gguf::File& file) {
    size_t n = 0;
    for (const gguf::MetadataEntry& e : file.metadata()) {
        n += e.value.text().size() + e.value.kind().size();
        n += e.value.as_f32_array().value_or(std::vector<float>{}).size() +
             e.value.as_i32_array().value_or(std::vector<int32_t>{}).size();
        n += e.value.as_bool().value_or(false) + static_cast<size_t>(e.value.as_u32().value_or(0));
    }
    for (const gguf::FileTensor& t : file.tensors()) {
        if (t.bytes > 0) {
            n += static_cast<size_t>(t.data[0]) + static_cast<size_t>(t.data[t.bytes - 1]);
        }
    }
    if (n == SIZE_MAX) { // nothing that was read may be left out
        fail("as much as that", "");
    }
}

void use_vocabulary(const gguf::File& file, const std::string& text, bool parse_special) {
    const auto tokenizer = Tokenizer::load(file);
    const std::vector<Token> tokens = tokenizer->encode(text, true, parse_special);
    for (const Token token : tokens) {
        if (token != no_token && (token < 0 || token >= tokenizer->n_tokens())) {
            fail("a token that there is not", std::to_string(token).c_str());
        }
    }
    tokenizer->decode(tokens, true, parse_special);
    tokenizer->decode(tokens, false, !parse_special);
    for (Token token = 0; token < std::min(tokenizer->n_tokens(), 8); ++token) {
        tokenizer->piece(token, true);
        tokenizer->is_eog(token);
    }
}

/// Rows of each tensor as floats, and the products of a few of them.
void use_tensors(const gguf::File& file) {
    constexpr int64_t most_values = 4096;
    constexpr int most_products = 4;
    int n_products = 0;
    for (const gguf::FileTensor& t : file.tensors()) {
        if (t.ne[0] > most_values || !can_expand(t.type)) {
            continue;
        }
        std::vector<float> row(static_cast<size_t>(t.ne[0]));
        row_to_float(t.type, t.data, row.data(), t.ne[0]);
        const size_t last = t.bytes - row_bytes(t.type, t.ne[0]);
        row_to_float(t.type, t.data + last, row.data(), t.ne[0]);
        if (t.ne[0] * t.ne[1] * t.ne[2] * t.ne[3] > most_values || ++n_products > most_products) {
            continue;
        }
        test::SmallGraph g;
        Tensor* weight = g.graph.make(t.type, t.ne, "weight");
        Tensor* x = g.graph.make(Type::F32, {t.ne[0], 3, t.ne[2], t.ne[3]}, "x");
        Tensor* product = ops::mul_mat(g.graph, weight, x);
        if (!machine().cpu->supports_op(*product).yes) {
            continue;
        }
        const SplitGraph split = g.place(*machine().cpu, product);
        tensor_write(*weight, t.data, 0, t.bytes);
        test::set_floats(*x, test::some_floats(static_cast<size_t>(n_elements(*x))));
        test::compute_all(*machine().backends.front(), split);
    }
}

void evaluate(const std::shared_ptr<const gguf::File>& file, bool flash_attention) {
    constexpr int64_t most_cache_bytes = 4 << 20;
    const Model model(file, machine().devices, {}, LoadMode::data);
    const Hparams& h = model.hparams();
    constexpr int32_t n_cells = 256;
    if ((int64_t{h.n_embd_k()} + h.n_embd_v()) * n_cells * h.n_layer > most_cache_bytes) {
        return;
    }
    Scheduler scheduler(machine().backends, {});
    InferenceContext context(model, scheduler,
                             {.n_ctx = n_cells, .n_batch = 4, .n_ubatch = 4, .flash_attention = flash_attention});
    Batch batch;
    for (int32_t i = 0; i < 3; ++i) {
        batch.add(i % h.n_vocab, i, only_sequence(0), i == 2);
    }
    context.decode(batch);
    if (context.logits(0).size() != static_cast<size_t>(h.n_vocab)) {
        fail("no logits", "");
    }
}

} // namespace

void run(FuzzedDataProvider& input, bool evaluates) {
    static const std::vector<EditedGguf> sound = sound_files();
    const auto base = input.ConsumeIntegral<uint8_t>();
    const auto depth = input.ConsumeIntegral<uint8_t>();
    const std::string text = input.ConsumeRandomLengthString(64);
    std::vector<std::byte> bytes;
    if (base >= 240) {
        bytes = input.ConsumeRemainingBytes<std::byte>();
    } else {
        EditedGguf edited = sound[base % sound.size()];
        edited.edit(input);
        bytes = edited.bytes();
    }
    std::shared_ptr<const gguf::File> file;
    if (!goes_well([&] { file = std::make_shared<const gguf::File>(gguf::File::from_bytes(std::move(bytes), "model")); })) {
        return;
    }
    look(*file);
    goes_well([&] { use_vocabulary(*file, text, (depth & 1) != 0); });
    if (depth % 4 == 0) {
        use_tensors(*file);
        goes_well([&] {
            depth % 16 == 0 && evaluates ? evaluate(file, (depth & 32) != 0)
                                         : void(Model(file, machine().devices, {}, LoadMode::data));
        });
    }
}

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    FuzzedDataProvider input(data, size);
    schedscope::fuzz::run(input, schedscope::fuzz::chance_of({reinterpret_cast<const char*>(data), size}) % 8 == 0);
    return 0;
}
