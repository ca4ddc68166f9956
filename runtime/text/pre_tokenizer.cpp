#include "runtime/text/pre_tokenizer.h"

#include "runtime/error.h"

#define PCRE2_CODE_UNIT_WIDTH 32
#include <algorithm>
#include <limits>
#include <pcre2.h>
#include <string>

namespace schedscope {

namespace {

/// Unicode's White_Space beyond ASCII.
constexpr bool wide_white_space(char32_t c) noexcept {
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

/// What the patterns look at. llama.cpp gives every wide space to them as a vertical tab: \s has it, and a range of characters
/// that it lies in (U+0800 to U+4E00) does not.
std::u32string with_narrow_spaces(std::u32string_view text) {
    std::u32string narrow(text);
    std::replace_if(narrow.begin(), narrow.end(), wide_white_space, U'\v');
    return narrow;
}

/// Writes out \s, inside brackets and outside, and \S, outside: PCRE2's own has the wide spaces, and U+180E with them.
std::string with_white_space(std::string_view pattern) {
    constexpr std::string_view white_space = "\\x09-\\x0D\\x20";
    std::string result;
    bool in_class = false;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (c == '\\' && next == 's') {
            result.append(in_class ? "" : "[").append(white_space).append(in_class ? "" : "]");
            ++i;
        } else if (c == '\\' && next == 'S') {
            result.append("[^").append(white_space).append("]");
            ++i;
        } else if (c == '\\') {
            result.append(pattern.substr(i++, 2));
        } else {
            in_class = c == '[' ? true : c == ']' ? false : in_class;
            result += c;
        }
    }
    return result;
}

[[noreturn]] void fail(int code) {
    std::u32string message(256, U'\0');
    const int length =
        pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(message.data()), static_cast<PCRE2_SIZE>(message.size()));
    std::string text;
    for (int i = 0; i < length; ++i) {
        text += static_cast<char>(message[i]);
    }
    throw Error(ErrorKind::device, "splitting text into words: " + text);
}

} // namespace

/// A compiled regular expression over code points.
class PreTokenizer::Pattern {
public:
    explicit Pattern(std::string_view pattern) {
        const std::string written = with_white_space(pattern);
        const std::u32string wide(written.begin(), written.end()); // patterns are ASCII
        int error = 0;
        PCRE2_SIZE where = 0;
        // Not UTF: code points that are no characters may stand in the text.
        code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(wide.data()), wide.size(), PCRE2_UCP, &error, &where, nullptr);
        if (code_ == nullptr) {
            fail(error);
        }
        pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE); // where there is no compiler, it is interpreted
        // The limit is for patterns that take forever; ours take time in proportion to the text, and texts may be long.
        limits_ = pcre2_match_context_create(nullptr);
        pcre2_set_match_limit(limits_, std::numeric_limits<uint32_t>::max());
    }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    ~Pattern() {
        pcre2_match_context_free(limits_);
        pcre2_code_free(code_);
    }

    /// Cuts one piece into matches and gaps.
    void split(std::u32string_view piece, pcre2_match_data* match, std::vector<std::u32string_view>& out) const {
        const auto* subject = reinterpret_cast<PCRE2_SPTR>(piece.data());
        size_t done = 0;
        while (done < piece.size()) {
            const int found = pcre2_match(code_, subject, piece.size(), done, PCRE2_NOTEMPTY, match, limits_);
            if (found == PCRE2_ERROR_NOMATCH) {
                break;
            }
            if (found < 0) {
                fail(found);
            }
            const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match);
            if (ends[0] > done) {
                out.push_back(piece.substr(done, ends[0] - done));
            }
            out.push_back(piece.substr(ends[0], ends[1] - ends[0]));
            done = ends[1];
        }
        if (done < piece.size()) {
            out.push_back(piece.substr(done));
        }
    }

    const pcre2_code* code() const noexcept { return code_; }

private:
    pcre2_code* code_;
    pcre2_match_context* limits_ = nullptr;
};

PreTokenizer::PreTokenizer(const PreTokenizerRule& rule) {
    for (const std::string_view pattern : rule.patterns) {
        patterns_.push_back(std::make_unique<Pattern>(pattern));
    }
}

PreTokenizer::~PreTokenizer() = default;

std::vector<std::u32string_view> PreTokenizer::split(std::u32string_view text) const {
    using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;
    const std::u32string narrow = with_narrow_spaces(text);
    std::vector<std::u32string_view> pieces{narrow};
    std::vector<std::u32string_view> finer;
    for (const auto& pattern : patterns_) {
        const MatchData match(pcre2_match_data_create_from_pattern(pattern->code(), nullptr), &pcre2_match_data_free);
        finer.clear();
        for (const std::u32string_view piece : pieces) {
            pattern->split(piece, match.get(), finer);
        }
        pieces.swap(finer);
    }
    for (std::u32string_view& piece : pieces) {
        piece = text.substr(piece.data() - narrow.data(), piece.size());
    }
    return pieces;
}

} // namespace schedscope
