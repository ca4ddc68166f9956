#include "runtime/text/special_tokens.h"

namespace schedscope {

namespace {

constexpr std::string_view ascii_space = " \t\n\v\f\r";

/// Cuts every occurrence of a token out of the stretches.
std::vector<Fragment> cut_out(const std::vector<Fragment>& fragments, Token token, std::string_view wanted, bool strips_right) {
    std::vector<Fragment> result;
    result.reserve(fragments.size() + 2);
    for (const Fragment& fragment : fragments) {
        if (fragment.token != no_token) {
            result.push_back(fragment);
            continue;
        }
        std::string_view rest = fragment.text;
        for (size_t at = rest.find(wanted); at != std::string_view::npos; at = rest.find(wanted)) {
            if (at > 0) {
                result.push_back({rest.substr(0, at), no_token});
            }
            result.push_back({{}, token});
            rest.remove_prefix(at + wanted.size());
            if (strips_right) {
                rest.remove_prefix(std::min(rest.find_first_not_of(ascii_space), rest.size()));
            }
        }
        if (!rest.empty()) {
            result.push_back({rest, no_token});
        }
    }
    return result;
}

} // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) : vocabulary_(vocabulary), roots_(256, -1) {
    for (const Token token : vocabulary.special_tokens()) {
        insert(token);
    }
}

int32_t SpecialTokens::child(int32_t node, char byte) const noexcept {
    int32_t next = tree_[node].first_child;
    while (next >= 0 && tree_[next].byte != byte) {
        next = tree_[next].next_sibling;
    }
    return next;
}

void SpecialTokens::insert(Token token) {
    const std::string_view text = vocabulary_.text(token);
    const auto make = [this](char byte) {
        tree_.push_back({-1, -1, no_token, byte});
        return static_cast<int32_t>(tree_.size() - 1);
    };
    int32_t& root = roots_[static_cast<unsigned char>(text[0])];
    if (root < 0) {
        root = make(text[0]);
    }
    int32_t node = root;
    for (const char byte : text.substr(1)) {
        int32_t next = child(node, byte);
        if (next < 0) {
            next = make(byte);
            Node& parent = tree_[node];
            tree_[next].next_sibling = parent.first_child;
            parent.first_child = next;
        }
        node = next;
    }
    // Of two tokens with the same text the first is found.
    Token& here = tree_[node].token;
    here = here == no_token ? token : here;
}

std::vector<Token> SpecialTokens::present(std::string_view text, bool parse_control) const {
    // One pass over the text, so that a vocabulary with thousands of special tokens costs no more than one with three.
    std::vector<uint8_t> seen(vocabulary_.n_tokens(), 0);
    for (size_t i = 0; i < text.size(); ++i) {
        int32_t node = roots_[static_cast<unsigned char>(text[i])];
        for (size_t j = i + 1; node >= 0; ++j) {
            const Token token = tree_[node].token;
            if (token != no_token) {
                seen[token] = 1;
            }
            node = j < text.size() ? child(node, text[j]) : -1;
        }
    }
    std::vector<Token> result;
    for (const Token token : vocabulary_.special_tokens()) {
        const bool wanted = parse_control || !vocabulary_.has(token, token_control | token_unknown);
        if (wanted && seen[token] != 0) {
            result.push_back(token);
        }
    }
    return result;
}

std::vector<Fragment> SpecialTokens::split(std::string_view text, bool parse_control) const {
    if (text.empty()) {
        return {};
    }
    std::vector<Fragment> fragments{{text, no_token}};
    for (const Token token : present(text, parse_control)) {
        fragments = cut_out(fragments, token, vocabulary_.text(token), vocabulary_.has(token, token_strips_right));
    }
    return fragments;
}

} // namespace schedscope
