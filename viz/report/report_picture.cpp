#include "runtime/error.h"
#include "runtime/numbers.h"
#include "viz/pictures/palette.h"
#include "viz/report/report_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace schedscope {

namespace {

using nlohmann::json;

constexpr double points_per_inch = 72;

/// A tenth of a point is finer than anybody sees.
double rounded(double value) { return std::round(value * 10) / 10; }

/// The value of an object's attribute; "" where it has none.
std::string text_of(const json& object, const char* key) { return object.value(key, std::string()); }
double number_of(const json& object, const char* key) {
    const std::string text = text_of(object, key);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}
/// "1,2 3.5,4": all numbers in order.
std::vector<double> numbers_in(const std::string& text) {
    std::vector<double> numbers;
    for (size_t at = text.find_first_of("-.0123456789"); at < text.size(); at = text.find_first_of("-.0123456789", at)) {
        double value = 0;
        const char* end = std::from_chars(text.data() + at, text.data() + text.size(), value).ptr;
        numbers.push_back(value);
        at = std::max<size_t>(at + 1, end - text.data());
    }
    return numbers;
}

/// Markup that viz/pictures/markup.h made, back to lines of pieces: [text, points, bold + 2 × grey].
class MarkupLines {
public:
    MarkupLines(std::string_view markup, int points, ReportTexts& texts) : points_{points}, texts_(texts) {
        while (!markup.empty()) {
            const size_t tag = markup.find('<');
            append(markup.substr(0, tag));
            markup.remove_prefix(std::min(tag, markup.size()));
            const size_t end = markup.find('>');
            if (end == std::string_view::npos) {
                break;
            }
            enter(markup.substr(1, end - 1));
            markup.remove_prefix(end + 1);
        }
        close_line();
    }
    json take() { return std::move(lines_); }

private:
    void enter(std::string_view tag) {
        flush();
        if (tag == "b") {
            ++bold_;
        } else if (tag == "/b") {
            --bold_;
        } else if (tag.starts_with("font")) {
            const size_t size = tag.find("point-size=\"");
            int points = points_.back();
            if (size != std::string_view::npos) {
                std::from_chars(tag.data() + size + 12, tag.data() + tag.size(), points);
            }
            points_.push_back(points);
            grey_.push_back(tag.find("#444444") != std::string_view::npos);
        } else if (tag == "/font" && points_.size() > 1) {
            points_.pop_back();
            grey_.pop_back();
        } else if (tag.starts_with("br")) {
            close_line();
        }
    }
    void append(std::string_view shown) {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 7> entities{
            {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#160;", " "}, {"&#8202;", ""}, {"\\\\", "\\"}}};
        while (!shown.empty()) {
            const auto entity =
                std::find_if(entities.begin(), entities.end(), [&](const auto& e) { return shown.starts_with(e.first); });
            piece_ += entity == entities.end() ? shown.substr(0, 1) : entity->second;
            shown.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
        }
    }
    void flush() {
        if (!piece_.empty()) {
            line_.push_back(
                {texts_.number(piece_), points_.back(), (bold_ > 0 ? 1 : 0) + (!grey_.empty() && grey_.back() ? 2 : 0)});
        }
        piece_.clear();
    }
    void close_line() {
        flush();
        if (!line_.empty()) {
            lines_.push_back(std::exchange(line_, json::array()));
        }
    }

    std::vector<int> points_;
    std::vector<bool> grey_;
    int bold_ = 0;
    std::string piece_;
    json line_ = json::array(), lines_ = json::array();
    ReportTexts& texts_;
};

class LaidOutPicture {
public:
    LaidOutPicture(const json& laid_out, const SessionInfo& session, ReportTexts& texts) : palette_(session), texts_(texts) {
        top_ = numbers_in(text_of(laid_out, "bb")).at(3);
        for (const json& object : laid_out.value("objects", json::array())) {
            if (object.contains("bb")) {
                add_area(object);
            } else if (object.contains("pos")) {
                add_node(object);
            }
        }
        for (const json& edge : laid_out.value("edges", json::array())) {
            if (edge.contains("pos")) {
                add_edge(edge);
            }
        }
    }
    json take() { return {{"nodes", std::move(nodes_)}, {"edges", std::move(edges_)}, {"areas", std::move(areas_)}}; }

private:
    /// The backend whose colour a shape has; −1: none.
    static int backend_of(const json& object) {
        return text_of(object, "backend_id").empty() ? -1 : static_cast<int>(number_of(object, "backend_id"));
    }

    void add_area(const json& object) {
        const std::vector<double> box = numbers_in(text_of(object, "bb")); // left, bottom, right, top
        if (box.size() < 4) {
            return;
        }
        std::string name = text_of(object, "name");
        name.erase(0, name.find('_') + 1);
        const bool fused = name.starts_with("fused");
        areas_.push_back({{"n", name},
                          {"x", rounded(box[0])},
                          {"y", rounded(top_ - box[3])},
                          {"w", rounded(box[2] - box[0])},
                          {"h", rounded(box[3] - box[1])},
                          {"b", backend_of(object)},
                          {"f", fused},
                          {"tip", texts_.number(text_of(object, "tooltip"))}});
    }

    void add_node(const json& object) {
        const std::vector<double> centre = numbers_in(text_of(object, "pos"));
        if (centre.size() < 2) {
            return;
        }
        const double width = number_of(object, "width") * points_per_inch, height = number_of(object, "height") * points_per_inch;
        const std::string style = text_of(object, "style"), shape = text_of(object, "shape");
        const int backend = backend_of(object);
        const bool bare = shape == "none" || shape == "plaintext";
        json node{{"x", rounded(centre[0] - width / 2)},
                  {"y", rounded(top_ - centre[1] - height / 2)},
                  {"w", rounded(width)},
                  {"h", rounded(height)}};
        node["b"] = backend;
        node["s"] = bare ? "none" : shape == "ellipse" ? "ellipse" : shape == "cds" ? "use" : "box";
        const auto has = [&](const char* word) { return style.find(word) != std::string::npos; };
        if (backend >= 0 && text_of(object, "fillcolor") == palette_[narrow<BackendId>(backend)].pale) {
            node["pale"] = 1;
        }
        if (has("rounded")) {
            node["r"] = 1;
        }
        if (has("dashed") || has("dotted")) {
            node["d"] = has("dashed") ? 1 : 2;
        }
        if (has("solid")) {
            node["empty"] = 1;
        }
        if (object.contains("tensor")) {
            node["t"] = static_cast<int64_t>(number_of(object, "tensor"));
        } else {
            node["n"] = text_of(object, "name");
        }
        const double points = number_of(object, "fontsize");
        node["l"] = MarkupLines(text_of(object, "label"), points > 0 ? static_cast<int>(points) : 10, texts_).take();
        if (const std::string tip = text_of(object, "tooltip"); !tip.empty()) {
            node["tip"] = texts_.number(tip);
        }
        nodes_.push_back(std::move(node));
    }

    /// Graphviz: "e,TIP START c c p c c p …": an optional arrow tip, a start, then Bézier pieces of three points.
    void add_edge(const json& object) {
        const std::string where = text_of(object, "pos"), style = text_of(object, "style");
        if (style == "invis") {
            return;
        }
        std::vector<double> points = numbers_in(where.substr(0, where.find(';')));
        const bool tip = where.starts_with("e,");
        if (points.size() < (tip ? 10U : 8U)) {
            return;
        }
        json path = json::array();
        for (size_t i = 0; i + 1 < points.size(); i += 2) {
            path.push_back(rounded(points[i]));
            path.push_back(rounded(top_ - points[i + 1]));
        }
        json edge{{"p", std::move(path)}, {"tip", tip ? 1 : 0}};
        if (style == "dashed" || style == "dotted") {
            edge["d"] = style == "dashed" ? 1 : 2;
        }
        if (const std::vector<double> at = numbers_in(text_of(object, "lp")); at.size() == 2) {
            edge["x"] = rounded(at[0]);
            edge["y"] = rounded(top_ - at[1]);
            edge["l"] = MarkupLines(text_of(object, "label"), 9, texts_).take();
        }
        if (const std::string about = text_of(object, "tooltip"); !about.empty()) {
            edge["about"] = texts_.number(about);
        }
        edges_.push_back(std::move(edge));
    }

    const Palette palette_;
    ReportTexts& texts_;
    double top_ = 0;
    json nodes_ = json::array(), edges_ = json::array(), areas_ = json::array();
};

} // namespace

json report_picture(const std::string& laid_out, const SessionInfo& session, ReportTexts& texts) {
    try {
        return LaidOutPicture(json::parse(laid_out), session, texts).take();
    } catch (const std::exception& error) { // of the parser, or a value of another kind than expected
        throw Error(ErrorKind::device, std::string("Graphviz answered what can't be read: ") + error.what());
    }
}

} // namespace schedscope
