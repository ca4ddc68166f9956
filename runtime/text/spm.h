#pragma once

#include "runtime/text/tokenizer.h"
#include "runtime/text/vocabulary.h"

#include <memory>
#include <string>
#include <unordered_set>

namespace schedscope {

/// SentencePiece vocabularies with scores ("llama"): characters are merged in pairs, the pair whose union has the highest score
/// first, the leftmost among equals; what is no token at the end becomes byte tokens.
class SpmTokenizer final : public Tokenizer {
public:
    explicit SpmTokenizer(const gguf::File& file);

protected:
    void encode_text(std::string_view text, bool after_special, std::vector<Token>& out) const override;
    std::string text_of(Token token) const override;

private:
    bool can_join(std::string_view left, std::string_view right) const;
    void collect_neighbours();

    std::unordered_set<uint64_t> neighbours_; ///< pairs of characters that stand side by side in some token
};

} // namespace schedscope
