#include "inspector/manual/roff.h"

#include "runtime/system/utf8.h"

#include <cstdio>
#include <ostream>

namespace schedscope::manual {

std::string roff(std::string_view text) {
    std::string out;
    bool line_begins = true;
    while (!text.empty()) {
        const char32_t c = take_character(text).value_or(U'?');
        if (line_begins && (c == '.' || c == '\'')) {
            out += "\\&";
        }
        line_begins = c == '\n';
        switch (c) {
        case '\\': out += "\\e"; break;
        case '-': out += "\\-"; break;
        case '\'': out += "\\(aq"; break;
        case '`': out += "\\(ga"; break;
        case '^': out += "\\(ha"; break;
        case '~': out += "\\(ti"; break;
        case 0x2026: out += "..."; break;
        default:
            if (c < 0x80) {
                out += static_cast<char>(c);
            } else {
                char number[16];
                std::snprintf(number, sizeof number, "\\[u%04X]", c);
                out += number;
            }
        }
    }
    return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fP"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fP"; }

std::string prose(std::string_view text) {
    std::string out;
    for (const Piece& piece : pieces_of(text)) {
        // What begins a line is the formatter's own where it begins with a dot.
        out += piece.literal ? bold(piece.text) : roff(piece.text);
    }
    return out;
}

void write_head(std::string_view page, int section, std::string_view version, std::ostream& out) {
    std::string capitals(page);
    for (char& c : capitals) {
        c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    out << ".\\\" Made by schedscope itself.\n"
        << ".TH " << roff(capitals) << ' ' << section << " \"\" \"" << roff(version) << "\" \""
        << (section == 1 ? "User Commands" : "Miscellaneous Information Manual") << "\"\n"
        << ".ad l\n"; // long names of files and options leave gaps where lines are stretched
}

void write_topic_page(const Topic& topic, std::string_view version, std::ostream& out) {
    const std::string page = "schedscope-" + topic.name;
    write_head(page, 7, version, out);
    out << ".SH NAME\n" << roff(page) << " \\- " << roff(topic.summary) << "\n.SH DESCRIPTION\n";
    write_blocks(topic.blocks, out);
    out << ".SH SEE ALSO\n.BR schedscope (1)";
    for (const TopicText& other : topic_texts()) {
        if (other.name != topic.name) {
            out << ",\n.BR " << roff("schedscope-" + std::string(other.name)) << " (7)";
        }
    }
    out << '\n';
}

void write_blocks(std::span<const Block> blocks, std::ostream& out) {
    for (const Block& block : blocks) {
        switch (block.kind) {
        case Block::Kind::heading: out << ".SH " << roff(block.text) << '\n'; break;
        case Block::Kind::paragraph: out << ".PP\n" << prose(block.text) << '\n'; break;
        case Block::Kind::term: out << ".TP\n" << bold(block.text) << '\n' << prose(block.meaning) << '\n'; break;
        case Block::Kind::verbatim: out << ".PP\n.RS\n.nf\n" << roff(block.text) << "\n.fi\n.RE\n"; break;
        }
    }
}

} // namespace schedscope::manual
