#pragma once

#include <string>
#include <string_view>

/// Texts that others wrote: names in files, pieces of tokens, what was typed. A terminal obeys some of their characters (OSC 52
/// copies to the clipboard), and others change the order in which it shows the rest: here they become characters that are only
/// seen.
namespace schedscope {

/// Does a terminal obey this character, or change the order of others by it? C0, DEL, C1; the marks, embeddings, overrides and
/// isolates of bidirectional text; the separators of lines and paragraphs.
bool is_control(char32_t c) noexcept;

/// In one line: "\\n" for a newline, "\\t" for a tab, "?" for any other control character, U+FFFD for each byte that is no UTF-8.
/// Of a longer text so many characters, and "…".
std::string visible(std::string_view text, size_t longest = std::string_view::npos);

/// A name as it stands in a message: not more of it than anybody reads.
inline std::string visible_name(std::string_view name) { return visible(name, 80); }

/// Text of JSON as it is sent: control characters become \uXXXX, but for C0, which JSON has escaped already.
std::string escape_controls(std::string json);

/// A text that comes in pieces, for a terminal: as `visible` shows it, with newlines and tabs left as they are.
class VisiblePieces {
public:
    /// What can be shown with this piece. The beginning of a character stays here until its rest comes, at most three bytes.
    std::string add(std::string_view piece);
    /// What stayed, at the end of the text.
    std::string finish();

private:
    std::string begun_; ///< of a character
};

} // namespace schedscope
