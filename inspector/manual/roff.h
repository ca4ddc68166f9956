#pragma once

#include "inspector/manual/manual.h"

#include <iosfwd>

/// Man pages, in the language of man(7).
namespace schedscope::manual {

/// Text that means itself: what the formatter would take for its own is written out.
std::string roff(std::string_view text);
std::string bold(std::string_view text);
std::string italic(std::string_view text);

void write_head(std::string_view page, int section, std::string_view version, std::ostream& out);
void write_blocks(std::span<const Block> blocks, std::ostream& out);
/// schedscope-TOPIC(7)
void write_topic_page(const Topic& topic, std::string_view version, std::ostream& out);

} // namespace schedscope::manual
