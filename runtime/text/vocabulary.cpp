#include "runtime/text/vocabulary.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/letter_case.h"
#include "runtime/system/budget.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

constexpr std::array hex_digits = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};

constexpr size_t max_tokens = budget::model_vocabulary;

/// An id in the file; one that does not exist counts as not given.
Token id_of(const gguf::File& file, std::string_view key, Token otherwise, int32_t n_tokens) {
    const auto id = file.get_i32(key);
    const auto wanted = id && *id >= 0 && *id < n_tokens ? *id : otherwise;
    return wanted < n_tokens ? wanted : no_token;
}

[[noreturn]] void fail(const gguf::File& file, const std::string& why) {
    throw Error(ErrorKind::input, file.path() + ": " + why);
}

// Tokens known by their text, because files do not name their ids. They are control tokens, whatever the file says.
constexpr auto end_texts = std::to_array<std::string_view>({"<|eot_id|>",
                                                            "<|im_end|>",
                                                            "<|end|>",
                                                            "<|return|>",
                                                            "<|call|>",
                                                            "<|flush|>",
                                                            "<|calls|>",
                                                            "<end_of_turn>",
                                                            "<|endoftext|>",
                                                            "</s>",
                                                            "<|eom_id|>",
                                                            "<EOT>",
                                                            "_<EOT>",
                                                            "[EOT]",
                                                            "[EOS]",
                                                            "<|end_of_text|>",
                                                            "<end_of_utterance>",
                                                            "<eos>",
                                                            "<turn|>",
                                                            "<|tool_response>",
                                                            "<｜end▁of▁sentence｜>",
                                                            "[e~["});

// A model has at most one of each kind.
struct FillInToken {
    std::string_view key;
    bool ends; ///< ends a generation
    std::array<std::string_view, 8> texts;
};
constexpr auto fill_in_tokens = std::to_array<FillInToken>({
    {"tokenizer.ggml.fim_pre_token_id",
     false,
     {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>", "<|prefix|>"}},
    {"tokenizer.ggml.fim_suf_token_id",
     false,
     {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>", "<|suffix|>"}},
    {"tokenizer.ggml.fim_mid_token_id",
     false,
     {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>", "<|middle|>"}},
    {"tokenizer.ggml.fim_pad_token_id", true, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
    {"tokenizer.ggml.fim_rep_token_id", true, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {"tokenizer.ggml.fim_sep_token_id", true, {"<|file_sep|>"}},
});

// Parts of a message's frame that are shown as text.
constexpr auto frame_texts = std::to_array<std::string_view>({"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"});

} // namespace

Vocabulary::Vocabulary(const gguf::File& file, const TextFrame& defaults) {
    load_texts(file);
    load_attributes(file);
    frame_.bos = id_of(file, "tokenizer.ggml.bos_token_id", defaults.bos, n_tokens());
    frame_.eos = id_of(file, "tokenizer.ggml.eos_token_id", defaults.eos, n_tokens());
    frame_.unk = id_of(file, "tokenizer.ggml.unknown_token_id", defaults.unk, n_tokens());
    frame_.add_bos = file.get_bool("tokenizer.ggml.add_bos_token").value_or(defaults.add_bos);
    frame_.add_eos = file.get_bool("tokenizer.ggml.add_eos_token").value_or(defaults.add_eos);
    frame_.add_space_prefix = file.get_bool("tokenizer.ggml.add_space_prefix").value_or(defaults.add_space_prefix);
    find_ends(file);

    for (Token t = 0; t < n_tokens(); ++t) {
        if (has(t, token_control | token_user_defined | token_unknown)) {
            special_.push_back(t);
        }
    }
    std::stable_sort(special_.begin(), special_.end(), [this](Token a, Token b) { return text(a).size() > text(b).size(); });
    strip_spaces_as_phi3(file);
}

void Vocabulary::load_texts(const gguf::File& file) {
    const auto texts = file.require_string_array("tokenizer.ggml.tokens");
    if (texts.empty()) {
        fail(file, "key 'tokenizer.ggml.tokens' holds no tokens");
    }
    if (texts.size() > max_tokens) {
        fail(file, "key 'tokenizer.ggml.tokens' holds " + std::to_string(texts.size()) + " tokens; at most " +
                       std::to_string(max_tokens) + " are accepted");
    }
    std::vector<size_t> ends;
    ends.reserve(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
        // An empty text would be found everywhere.
        storage_ += texts[i].empty() ? "[EMPTY_" + std::to_string(i) + "]" : std::string(texts[i]);
        ends.push_back(storage_.size());
    }
    texts_.reserve(texts.size());
    by_text_.reserve(texts.size());
    const std::string_view all = storage_;
    for (size_t i = 0, begin = 0; i < texts.size(); begin = ends[i], ++i) {
        texts_.push_back(all.substr(begin, ends[i] - begin));
        const auto [where, added] = by_text_.emplace(texts_.back(), static_cast<Token>(i));
        if (!added) {
            fail(file, "tokens " + std::to_string(where->second) + " and " + std::to_string(i) +
                           " (key tokenizer.ggml.tokens) are the same");
        }
    }
    for (size_t byte = 0; byte < 256; ++byte) {
        const std::string name{'<', '0', 'x', hex_digits[byte >> 4U], hex_digits[byte & 15U], '>'};
        const Token named = find(name);
        bytes_[byte] = named != no_token ? named : find(std::string(1, static_cast<char>(byte)));
    }
}

void Vocabulary::load_attributes(const gguf::File& file) {
    const auto check = [&](std::string_view key, size_t n) {
        if (n < texts_.size()) {
            fail(file, "key '" + std::string(key) + "' has " + std::to_string(n) + " elements for " +
                           std::to_string(texts_.size()) + " tokens");
        }
    };
    if (auto scores = file.get_f32_array("tokenizer.ggml.scores")) {
        check("tokenizer.ggml.scores", scores->size());
        scores_ = std::move(*scores);
    }
    attributes_.assign(texts_.size(), token_normal);
    if (const auto types = file.get_i32_array("tokenizer.ggml.token_type")) {
        check("tokenizer.ggml.token_type", types->size());
        // The file's numbers 1 … 6; others are of no known kind.
        constexpr std::array<uint8_t, 7> kinds = {
            0, token_normal, token_unknown, token_control, token_user_defined, token_unused, token_byte};
        for (size_t i = 0; i < texts_.size(); ++i) {
            const int32_t type = (*types)[i];
            attributes_[i] = type >= 1 && type <= 6 ? kinds[type] : uint8_t{0};
        }
    }
}

void Vocabulary::mark_control(Token t) noexcept { attributes_[t] |= token_control; }

void Vocabulary::find_ends(const gguf::File& file) {
    ends_.assign(texts_.size(), 0);
    const auto end = [this](Token t) {
        if (t != no_token) {
            ends_[t] = 1;
        }
    };
    for (const std::string_view known : end_texts) {
        const Token t = find(known);
        end(t);
        if (t != no_token) {
            mark_control(t);
        }
    }
    for (const FillInToken& kind : fill_in_tokens) {
        Token t = id_of(file, kind.key, no_token, n_tokens());
        for (size_t i = 0; i < kind.texts.size() && t == no_token && !kind.texts[i].empty(); ++i) {
            t = find(kind.texts[i]);
            if (t != no_token) {
                mark_control(t);
            }
        }
        if (kind.ends) {
            end(t);
        }
    }
    end(frame_.eos);
    end(id_of(file, "tokenizer.ggml.eot_token_id", no_token, n_tokens()));
    end(id_of(file, "tokenizer.ggml.eom_token_id", no_token, n_tokens()));
    for (const std::string_view known : frame_texts) {
        const Token t = find(known);
        if (t != no_token) {
            attributes_[t] = token_user_defined;
        }
    }
    // Where messages end otherwise, these two are text.
    const auto ends = [this](std::string_view known) { return is_end(find(known)); };
    const bool calls = ends("<|call|>") || ends("<|calls|>");
    if (calls && (ends("<|return|>") || ends("<|flush|>"))) {
        take_end_back(find("<|end|>"), token_user_defined);
    }
    if (ends("<|tool_response>")) {
        take_end_back(find("</s>"), token_normal);
    }
}

bool Vocabulary::is_end(Token t) const noexcept { return t != no_token && ends_generation(t); }

void Vocabulary::take_end_back(Token t, uint8_t attribute) noexcept {
    if (is_end(t)) {
        ends_[t] = 0;
        attributes_[t] = attribute;
    }
}

void Vocabulary::strip_spaces_as_phi3(const gguf::File& file) {
    // Nothing in the file tells it; llama.cpp goes by the model's name.
    const std::string name = lower(file.get_string("general.name").value_or(""));
    if (name.find("phi-3") == std::string::npos && name.find("phi3") == std::string::npos) {
        return;
    }
    for (const Token t : special_) {
        if (text(t) != "<unk>" && text(t) != "<s>" && text(t) != "<|endoftext|>") {
            attributes_[t] |= token_strips_right;
        }
    }
}

Token Vocabulary::find(std::string_view text) const noexcept {
    const auto found = by_text_.find(text);
    return found != by_text_.end() ? found->second : no_token;
}

} // namespace schedscope
