#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The manual: one text a topic (README.md says how they are written), shown by `help`, in the inspector and as man pages.
namespace schedscope::manual {

struct TopicText {
    std::string_view name, text;
};
/// All topics, in the order in which they are listed.
std::span<const TopicText> topic_texts() noexcept;

/// What stands in a table of the program, for a `@table NAME`.
struct TableRow {
    std::string term, meaning;
};
using TableOf = std::function<std::vector<TableRow>(std::string_view name)>;

struct Block {
    enum class Kind : uint8_t { heading, paragraph, term, verbatim };
    Kind kind = Kind::paragraph;
    std::string text;
    std::string meaning = {}; ///< of a term
};

struct Topic {
    std::string name, summary;
    std::vector<Block> blocks;
};

/// Throws Error(usage), naming topic and line, where the text does not keep to the markup.
Topic read_topic(std::string_view name, std::string_view text, const TableOf& table_of);

/// The topic of that name, in any case. Throws Error(usage) with the nearest names when there is none; `also` are names that are
/// there besides topics.
Topic topic(std::string_view name, const TableOf& table_of, std::span<const std::string_view> also = {});
bool is_topic(std::string_view name) noexcept;

/// One line a topic: its name and what it is about.
std::vector<TableRow> topic_list();

/// A text, and where words that are typed begin and end.
struct Piece {
    std::string text;
    bool literal = false;
};
std::vector<Piece> pieces_of(std::string_view text);

/// A line of at most `width` cells where its words allow that.
struct ManualLine {
    std::vector<Piece> pieces;
    bool heading = false;
};
/// Around words to be typed, where nothing else sets them off.
enum class Ticks : uint8_t { hidden, shown };
std::vector<ManualLine> lines_of(const Topic& topic, int width, Ticks ticks);

} // namespace schedscope::manual
