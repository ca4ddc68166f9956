#pragma once

#include "runtime/system/utf8.h"
#include "traces/history/words/words.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope::tui {

/// Can the terminal show characters beyond ASCII? Decided once from the locale; without it texts are spelled in ASCII ("->",
/// "...").
void set_unicode(bool yes) noexcept;
bool unicode() noexcept;

/// What the terminal is given of a text: no control characters (names come from files of others), no broken UTF-8, ASCII
/// spellings where that is all it can show.
std::u32string printable(std::string_view utf8);
/// Columns a character takes: 0, 1 or 2.
int char_width(char32_t c) noexcept;
/// Columns a text takes on the screen, as `printable` shows it.
int text_width(std::string_view utf8);

/// At most `width` columns of a text; what is cut is marked with an ellipsis.
std::u32string fitted(std::string_view utf8, int width);

/// A name in at most `width` columns. An end that many names share goes first: "blk.0.ffn_gate.w…", "cache_k_l0…"; else what is
/// cut lies in the middle, so that its layer and its end stay: "blk.0…fn_gate", "ffn_mo…rm-12". Of a range of names ("a … b")
/// around the mark.
std::string shortened_name(std::string_view utf8, int width);
/// Several, with " + " between them: their ids go first, then each gives some of its cells; where there are too few for all, the
/// others are counted: "norm-3 +2".
std::string shortened_names(std::string_view utf8, int width);

/// Two texts to be told apart in at most `width` columns each: what both begin with goes first: "…60K.gguf 3", "…60K.gguf 99";
/// then the middle, as of names.
std::pair<std::string, std::string> shortened_pair(std::string_view a, std::string_view b, int width);

/// A sentence in at most `width` columns: what is added to it behind " · " is left out first, the last first, then whole words.
std::string shortened(std::string_view utf8, int width);

/// How many characters of a printable text stand on a line of `room` columns: up to the last space behind `least` columns; within
/// a word only where it is longer than the line, then behind what joins the parts of a name ("blk.0.attn_|norm.weight").
size_t line_end(std::u32string_view text, int room, int least = 0);

/// Lines of at most `width` columns, broken where line_end says; at least one line.
std::vector<std::string> wrapped(std::string_view utf8, int width);

/// The text with blanks behind it to that many columns, one at least.
std::string padded(std::string text, int width);

// Numbers in the words of the rest of the program; "-" for what is not known (negative).
using words::counted;
std::string time_text(int64_t nanoseconds);

} // namespace schedscope::tui
