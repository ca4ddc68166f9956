#include "inspector/cli/attach/masked_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace schedscope {

namespace {

constexpr std::string_view mask = "***";

bool is_letter(char c) noexcept { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Whether `name` of an option or a variable says that its value is a secret. Not so of what counts tokens (`--n-tokens`,
/// `--max-tokens`): there the word has more than one.
bool names_a_secret(std::string_view option) {
    std::string name(option.substr(std::min(option.find_first_not_of('-'), option.size())));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return c == '_' ? '-' : std::tolower(c); });
    if (name == "hft" || name.starts_with("ssl-key")) {
        return true;
    }
    constexpr std::array<std::string_view, 6> words = {"api-key", "apikey", "token", "password", "passwd", "secret"};
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        for (size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
            const size_t end = at + word.size();
            const bool counts = word == "token" && end < name.size() && (name[end] == 's' || name[end] == 'i');
            if (!counts) { // tokens, tokenizer
                return true;
            }
        }
        return false;
    });
}

/// "NAME=VALUE" or "--name=VALUE": where the value begins; npos: it is none of these.
size_t value_place(std::string_view word) {
    const size_t at = word.find('=');
    const std::string_view name = word.substr(0, std::min(at, word.size()));
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
        return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    });
    return at == std::string_view::npos || name.empty() || !plain ? std::string_view::npos : at + 1;
}

std::string quoted(const std::string& word) {
    constexpr std::string_view harmless = "-_./:=,+@%^*";
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
        return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || harmless.find(c) != std::string_view::npos;
    });
    if (plain) {
        return word;
    }
    std::string text = "'";
    for (const char c : word) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
}

/// The user and password of an address: "https://name:word@host".
std::string without_user(const std::string& word) {
    const size_t scheme = word.find("://"), at = word.find('@', scheme == std::string::npos ? 0 : scheme);
    if (scheme == std::string::npos || at == std::string::npos || word.find('/', scheme + 3) < at) {
        return word;
    }
    return word.substr(0, scheme + 3) + std::string(mask) + word.substr(at);
}

} // namespace

std::string masked_command(const std::vector<std::string>& words) {
    std::string text;
    bool hidden = false; // the word before was the name of a secret
    for (const std::string& word : words) {
        const size_t value = value_place(word);
        const bool is_option = word.size() > 1 && word[0] == '-';
        std::string shown = quoted(without_user(word));
        if (hidden) {
            shown = mask;
            hidden = false;
        } else if (value != std::string_view::npos && names_a_secret(std::string_view(word).substr(0, value - 1))) {
            shown = word.substr(0, value) + std::string(mask);
        } else {
            hidden = is_option && value == std::string_view::npos && names_a_secret(word);
        }
        text += (text.empty() ? "" : " ") + shown;
    }
    return text;
}

} // namespace schedscope
