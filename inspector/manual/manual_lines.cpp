// Topics as lines of a terminal.
#include "inspector/manual/manual.h"
#include "runtime/system/utf8.h"

#include <algorithm>

namespace schedscope::manual {

namespace {

constexpr int term_width = 18, indent = 4;

/// Characters; the manual has none that is wider than a cell.
int cells(std::string_view text) {
    int n = 0;
    for (; !text.empty(); ++n) {
        take_character(text);
    }
    return n;
}

/// Fills lines word by word.
class Filler {
public:
    Filler(std::vector<ManualLine>& lines, int width, int hang, Ticks ticks)
        : lines_(lines), width_(std::max(width, hang + 10)), hang_(hang), ticks_(ticks) {}

    /// A first line that goes on behind `begin`.
    void begin(std::vector<Piece> begin, int used) {
        lines_.push_back({std::move(begin)});
        used_ = used;
        fresh_ = true;
    }

    void add(std::string_view text) {
        for (const Piece& piece : ticks_ == Ticks::shown ? std::vector<Piece>{{std::string(text)}} : pieces_of(text)) {
            std::string_view rest = piece.text;
            while (!rest.empty()) {
                const size_t spaces = std::min(rest.find_first_not_of(' '), rest.size());
                if (spaces > 0) {
                    put_word();
                    rest.remove_prefix(spaces);
                    continue;
                }
                const size_t end = std::min(rest.find(' '), rest.size());
                pending_.push_back({std::string(rest.substr(0, end)), piece.literal});
                rest.remove_prefix(end); // a word may go over from one piece to the next: "`n`," stays together
            }
        }
        put_word();
    }

private:
    void put_word() {
        if (pending_.empty()) {
            return;
        }
        int length = 0;
        for (const Piece& p : pending_) {
            length += cells(p.text);
        }
        if (!fresh_ && used_ + 1 + length > width_) {
            begin({{std::string(static_cast<size_t>(hang_), ' ')}}, hang_);
        }
        if (!fresh_) {
            const bool inside = pending_.front().literal && !lines_.back().pieces.empty() && lines_.back().pieces.back().literal;
            lines_.back().pieces.push_back({" ", inside});
            ++used_;
        }
        for (Piece& p : pending_) {
            lines_.back().pieces.push_back(std::move(p));
        }
        pending_.clear();
        used_ += length;
        fresh_ = false;
    }

    std::vector<ManualLine>& lines_;
    const int width_, hang_;
    const Ticks ticks_;
    int used_ = 0;
    bool fresh_ = true;
    std::vector<Piece> pending_;
};

void add_verbatim(std::vector<ManualLine>& lines, std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        lines.push_back({{{std::string(indent, ' ')}, {std::string(line), true}}});
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
}

} // namespace

std::vector<ManualLine> lines_of(const Topic& topic, int width, Ticks ticks) {
    std::vector<ManualLine> lines;
    Filler summary(lines, width, 0, ticks);
    summary.begin({}, 0);
    summary.add(topic.name + " - " + topic.summary);
    lines.back().heading = true;
    Block::Kind before = Block::Kind::paragraph;
    for (const Block& block : topic.blocks) {
        if (block.kind != Block::Kind::term || before != Block::Kind::term) {
            lines.push_back({});
        }
        before = block.kind;
        Filler filler(lines, width, block.kind == Block::Kind::term ? indent + term_width : 0, ticks);
        switch (block.kind) {
        case Block::Kind::heading: lines.push_back({{{block.text}}, true}); break;
        case Block::Kind::verbatim: add_verbatim(lines, block.text); break;
        case Block::Kind::paragraph:
            filler.begin({}, 0);
            filler.add(block.text);
            break;
        case Block::Kind::term: {
            const int length = cells(block.text);
            const std::string space(indent, ' ');
            if (length + 2 > term_width) { // it stands alone
                lines.push_back({{{space}, {block.text, true}}});
                filler.begin({{std::string(indent + term_width, ' ')}}, indent + term_width);
            } else {
                filler.begin({{space}, {block.text, true}, {std::string(static_cast<size_t>(term_width - length), ' ')}},
                             indent + term_width);
            }
            filler.add(block.meaning);
            break;
        }
        }
    }
    return lines;
}

} // namespace schedscope::manual
