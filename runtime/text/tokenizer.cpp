#include "runtime/text/tokenizer.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/system/visible_text.h"
#include "runtime/text/bpe.h"
#include "runtime/text/clean_spaces.h"
#include "runtime/text/special_tokens.h"
#include "runtime/text/spm.h"
#include "runtime/text/vocabulary.h"

namespace schedscope {

Tokenizer::Tokenizer(std::unique_ptr<Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), special_(std::make_unique<SpecialTokens>(*vocabulary_)) {}

Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::load(const gguf::File& file) {
    const std::string_view model = file.require_string("tokenizer.ggml.model");
    std::unique_ptr<Tokenizer> tokenizer;
    if (model == "llama") {
        tokenizer = std::make_unique<SpmTokenizer>(file);
    } else if (model == "gpt2") {
        tokenizer = std::make_unique<BpeTokenizer>(file);
    }
    file.check_whole();
    if (tokenizer != nullptr) {
        return tokenizer;
    }
    throw Error(ErrorKind::input,
                file.path() + ": tokenizer '" + visible_name(model) + "' (key tokenizer.ggml.model) is not supported");
}

std::vector<Token> Tokenizer::encode(std::string_view text, bool add_special, bool parse_special) const {
    const TextFrame& frame = vocabulary_->frame();
    std::vector<Token> tokens;
    if (add_special && frame.add_bos && frame.bos != no_token) {
        tokens.push_back(frame.bos);
    }
    bool after_special = true;
    for (const Fragment& fragment : special_->split(text, parse_special)) {
        after_special = after_special || fragment.token != no_token;
        if (fragment.token != no_token) {
            tokens.push_back(fragment.token);
        } else {
            encode_text(fragment.text, after_special, tokens);
            after_special = false;
        }
    }
    if (add_special && frame.add_eos && frame.eos != no_token) {
        tokens.push_back(frame.eos);
    }
    return tokens;
}

std::string Tokenizer::piece(Token token, bool special) const {
    if (!vocabulary_->exists(token)) {
        throw Error(ErrorKind::usage,
                    "token " + std::to_string(token) + ": the vocabulary has ids from 0 to " + std::to_string(n_tokens() - 1));
    }
    if (!special && vocabulary_->has(token, token_unknown | token_control)) {
        return {};
    }
    return text_of(token);
}

std::string Tokenizer::decode(std::span<const Token> tokens, bool remove_special, bool unparse_special) const {
    const TextFrame& frame = vocabulary_->frame();
    bool drop_space = frame.add_space_prefix;
    if (remove_special && frame.add_bos && !tokens.empty() && tokens.front() == frame.bos) {
        tokens = tokens.subspan(1);
        drop_space = false;
    }
    if (remove_special && frame.add_eos && !tokens.empty() && tokens.back() == frame.eos) {
        tokens = tokens.first(tokens.size() - 1);
    }
    std::string text;
    for (const Token token : tokens) {
        const std::string bytes = piece(token, unparse_special);
        text.append(bytes, drop_space && bytes.starts_with(' ') ? 1 : 0);
        drop_space = false;
    }
    return cleans_spaces() ? without_spaces_before_punctuation(text) : text;
}

int32_t Tokenizer::n_tokens() const noexcept { return vocabulary_->n_tokens(); }
Token Tokenizer::bos() const noexcept { return vocabulary_->frame().bos; }
Token Tokenizer::eos() const noexcept { return vocabulary_->frame().eos; }
Token Tokenizer::unk() const noexcept { return vocabulary_->frame().unk; }
bool Tokenizer::is_eog(Token token) const noexcept { return vocabulary_->exists(token) && vocabulary_->ends_generation(token); }
bool Tokenizer::is_control(Token token) const noexcept {
    return vocabulary_->exists(token) && vocabulary_->has(token, token_control);
}

} // namespace schedscope
