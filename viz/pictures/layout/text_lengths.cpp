#include "viz/pictures/layout/text_lengths.h"

#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace schedscope {

namespace {

/// Size in hundredths of a point, bold, text: what its length depends on.
using Look = std::tuple<int, bool, std::string>;
using Lengths = std::map<Look, double>;

/// Reads what xdot says is drawn: operations with numbers, and texts of a length that is said before.
class Drawing {
public:
    explicit Drawing(std::string_view text) : rest_(text) {}
    char operation() {
        skip();
        const char c = rest_.empty() ? '\0' : rest_.front();
        rest_.remove_prefix(rest_.empty() ? 0 : 1);
        return c;
    }
    double number() {
        skip();
        double value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        rest_.remove_prefix(end - rest_.data());
        return value;
    }
    void numbers(int n) {
        for (; n > 0; --n) {
            number();
        }
    }
    std::string_view text() {
        const auto n = static_cast<size_t>(number());
        skip();
        rest_.remove_prefix(rest_.empty() ? 0 : 1); // "-"
        const std::string_view found = rest_.substr(0, n);
        rest_.remove_prefix(found.size());
        return found;
    }

private:
    void skip() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
            rest_.remove_prefix(1);
        }
    }
    std::string_view rest_;
};

int hundredths(double points) { return static_cast<int>(points * 100 + 0.5); }

void read(std::string_view text, Lengths& lengths) {
    Drawing drawing(text);
    int size = 0;
    bool bold = false;
    for (;;) {
        switch (drawing.operation()) {
        case 'F':
            size = hundredths(drawing.number());
            drawing.text();
            break;
        case 't': bold = (static_cast<int>(drawing.number()) & 1) != 0; break;
        case 'T': {
            drawing.numbers(3); // place, how it is set
            const double length = drawing.number();
            lengths[{size, bold, std::string(drawing.text())}] = length;
            break;
        }
        case 'E':
        case 'e': drawing.numbers(4); break;
        case 'P':
        case 'p':
        case 'L':
        case 'B':
        case 'b': drawing.numbers(2 * static_cast<int>(drawing.number())); break;
        case 'C':
        case 'c':
        case 'S': drawing.text(); break;
        case 'I':
            drawing.numbers(4);
            drawing.text();
            break;
        default: return; // its end
        }
    }
}

void read_labels(void* object, Lengths& lengths) {
    for (const char* name : {"_ldraw_", "_hldraw_", "_tldraw_"}) {
        char* key = const_cast<char*>(name); // NOLINT: libcgraph's signature; it doesn't write
        if (const char* text = agget(object, key); text != nullptr) {
            read(text, lengths);
        }
    }
}

void read_areas(Agraph_t* graph, Lengths& lengths) {
    read_labels(graph, lengths);
    for (Agraph_t* area = agfstsubg(graph); area != nullptr; area = agnxtsubg(area)) {
        read_areas(area, lengths);
    }
}

/// The text that markup stands for; Graphviz writes the second of two spaces as one that viewers keep.
std::string plain(std::string_view markup) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> entities{
        {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&#45;", "-"}, {"&#160;", " "}}};
    std::string text;
    while (!markup.empty()) {
        size_t n = 1;
        std::string_view meant = markup.substr(0, 1);
        for (const auto& [entity, stands_for] : entities) {
            if (markup.starts_with(entity)) {
                n = entity.size();
                meant = stands_for;
            }
        }
        text += meant;
        markup.remove_prefix(n);
    }
    return text;
}

} // namespace

std::string with_text_lengths(std::string_view svg, Agraph_t* graph) {
    Lengths lengths;
    read_areas(graph, lengths);
    for (Agnode_t* node = agfstnode(graph); node != nullptr; node = agnxtnode(graph, node)) {
        read_labels(node, lengths);
        for (Agedge_t* edge = agfstout(graph, node); edge != nullptr; edge = agnxtout(graph, edge)) {
            read_labels(edge, lengths);
        }
    }
    constexpr std::string_view begins = "<text ", size_is = " font-size=\"", bold = " font-weight=\"bold\"";
    std::string out;
    for (size_t at = svg.find(begins); at != std::string_view::npos; at = svg.find(begins)) {
        const size_t behind = svg.find('>', at), end = svg.find('<', behind);
        if (end == std::string_view::npos) {
            break;
        }
        const std::string_view tag = svg.substr(at, behind - at);
        double size = 0;
        if (const size_t said = tag.find(size_is); said != std::string_view::npos) {
            std::from_chars(tag.data() + said + size_is.size(), tag.data() + tag.size(), size);
        }
        const std::string text = plain(svg.substr(behind + 1, end - behind - 1));
        const auto known = lengths.find({hundredths(size), tag.find(bold) != std::string_view::npos, text});
        out += svg.substr(0, behind);
        if (known != lengths.end() && known->second > 0) {
            std::array<char, 32> digits{};
            const auto [last, error] =
                std::to_chars(digits.data(), digits.data() + digits.size(), known->second, std::chars_format::fixed, 2);
            out += " textLength=\"" + std::string(digits.data(), last) + "\" lengthAdjust=\"spacingAndGlyphs\"";
        }
        out += svg.substr(behind, end - behind);
        svg.remove_prefix(end);
    }
    return out.append(svg);
}

} // namespace schedscope
