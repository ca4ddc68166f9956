#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/lifetimes.h"
#include "traces/history/words/words.h"
#include "viz/pictures/dot_text.h"
#include "viz/pictures/heading.h"
#include "viz/pictures/markup.h"
#include "viz/pictures/offset_axis.h"
#include "viz/pictures/shared_attributes.h"
#include "viz/pictures/subject.h"
#include "viz/pictures/views.h"

#include <algorithm>
#include <map>

namespace schedscope {

namespace {

constexpr double panel_height = 300, panel_gap = 78, axis_width = 60;  // points, as everything here
constexpr double min_width = 640, max_width = 1150, width_per_use = 9; // a screen's
constexpr double letter = 5.2, text_line = 10;                         // of the labels
constexpr double key_column = 190; // of the list that says what the numbers in small boxes mean

/// A rectangle or a text at a fixed place: left, bottom, width, height. Graphviz wants the centre in points and the size in
/// inches.
Attributes placed(double left, double bottom, double width, double height) {
    Attributes attributes;
    const auto fixed = [](double value) {
        std::string text = Attributes().decimal("v", value).str(); // v="12.000"
        return text.substr(3, text.size() - 4);
    };
    attributes.raw("pos", fixed(left + width / 2) + "," + fixed(bottom + height / 2));
    return attributes.decimal("width", width / 72).decimal("height", height / 72);
}

/// Name and size in as many lines as fit, broken behind "_", "-", "." and "#"; "" where the name doesn't fit.
std::string label_of(const std::string& name, int64_t bytes, double width, double height) {
    const auto room = static_cast<size_t>(std::max(0.0, (width - 4) / letter));
    const auto most = static_cast<size_t>(std::max(0.0, height / text_line));
    std::vector<std::string> lines;
    for (size_t at = 0; at < name.size();) {
        const size_t behind = std::min(name.find_first_of("_-.#", at), name.size() - 1) + 1;
        const std::string piece = name.substr(at, behind - at);
        if (!lines.empty() && lines.back().size() + piece.size() <= room) {
            lines.back() += piece;
        } else {
            lines.push_back(piece);
        }
        at = behind;
    }
    const auto too_long = [&](const std::string& line) { return line.size() > room; };
    if (lines.size() > most || std::any_of(lines.begin(), lines.end(), too_long)) {
        return "";
    }
    if (const std::string size = words::bytes(bytes); lines.size() < most && size.size() <= room) {
        lines.push_back(size);
    }
    std::string label;
    for (const std::string& line : lines) {
        label += (label.empty() ? "" : "<br/>") + sized(html_label(line), 8);
    }
    return label;
}

/// About so many, one of 1, 2, 5, 10, 20, 50 …: what a scale of numbers goes up by.
int32_t round_step(double at_least) {
    int32_t step = 1;
    for (const int32_t times : {2, 5, 2, 2, 5, 2, 2, 5, 2, 2, 5, 2}) {
        if (step >= at_least) {
            break;
        }
        step = times == 5 ? step / 2 * 5 : step * times;
    }
    return step;
}

/// One buffer: a panel of the picture.
struct Panel {
    BufferTypeId buffer_type = no_buffer_type;
    int32_t chunk = 0;
    int64_t size = 0;
    std::vector<const record::Placement*> tensors;
    std::vector<const record::Placement*> keyed; ///< drawn with their number in this list, from 1
    std::vector<const record::Placement*> thin;  ///< drawn without any text
};

/// What one split does in the allocated graph: for each input a placeholder and the copy, then its nodes.
struct Band {
    int32_t first = 0, end = 0;
    int32_t split = 0;
    BackendId backend = no_backend;
};

class MemoryPicture {
public:
    MemoryPicture(const Subject& subject, int32_t scheduler, std::span<const record::BufferSize> buffers);
    std::string draw();

private:
    double draw_panel(Panel& panel, double bottom);
    double draw_key(const Panel& panel, const std::string& id, double top);
    void draw_bands(const std::string& id, double bottom);
    void draw_axes(const OffsetAxis& axis, const std::string& id, double bottom);
    void draw_tensor(const OffsetAxis& axis, const record::Placement& placement, Panel& panel, double bottom);
    void draw_text(const std::string& id, const std::string& markup, double left, double bottom, double width, double height);
    std::string title_of(const Panel& panel) const;
    double x_of(int32_t use) const { return axis_width + width_ * use / n_uses_; }

    const Subject& subject_;
    const int32_t scheduler_;
    DotText dot_;
    std::map<std::pair<BufferTypeId, int32_t>, Panel> panels_;
    const Lifetimes lifetimes_;
    std::vector<Band> bands_;
    int32_t n_uses_ = 1;
    double width_ = min_width;
};

MemoryPicture::MemoryPicture(const Subject& subject, int32_t scheduler, std::span<const record::BufferSize> buffers)
    : subject_(subject), scheduler_(scheduler), dot_("memory"), lifetimes_(subject.state.placements) {
    const PlanState& state = subject.state;
    int32_t at = 0;
    for (const SplitState& split : state.splits) {
        const int32_t n = 2 * n_of(split.inputs) + subject.end_node(split) - split.first_node();
        bands_.push_back({at, at + n, split.begin.index, split.backend()});
        at += n;
    }
    n_uses_ = std::max(1, at);
    for (const record::BufferSize& buffer : buffers) {
        panels_[{buffer.buffer_type, buffer.chunk}].size = buffer.size;
    }
    for (const record::Placement& placement : state.placements) {
        Panel& panel = panels_[{placement.buffer_type, placement.chunk}];
        panel.tensors.push_back(&placement);
        panel.size = std::max(panel.size, placement.offset + placement.size);
        n_uses_ = std::max({n_uses_, placement.first_use + 1, placement.last_use + 1});
    }
    for (auto& [key, panel] : panels_) {
        panel.buffer_type = key.first;
        panel.chunk = key.second;
    }
    width_ = std::clamp(width_per_use * n_uses_, min_width, max_width);
}

std::string MemoryPicture::title_of(const Panel& panel) const {
    const Lifetimes::Peak peak = lifetimes_.peak_of(panel.tensors);
    const auto& types = subject_.session.buffer_types;
    const bool known = is_index(panel.buffer_type, types);
    const std::string name = known ? types[panel.buffer_type].name : "buffer type " + std::to_string(panel.buffer_type);
    return bold(name, gap) + (panel.chunk > 0 ? "chunk " + std::to_string(panel.chunk) + ", " : "") +
           words::bytes(accounts::compute_size(subject_.session, scheduler_, panel.buffer_type, panel.size)) + ", " +
           words::counted(panel.tensors.size(), "tensor") + "; most in use " + words::bytes(peak.bytes) + " at " +
           html_label(place_in_words(peak.at, peak.taken == nullptr ? "" : subject_.name(peak.taken->tensor)));
}

void MemoryPicture::draw_text(const std::string& id, const std::string& markup, double left, double bottom, double width,
                              double height) {
    dot_.node(id, placed(left, bottom, width, height).html("label", markup).raw("shape", "none").raw("style", ""));
}

void MemoryPicture::draw_bands(const std::string& id, double bottom) {
    for (const Band& band : bands_) {
        const double left = x_of(band.first), width = x_of(band.end) - left;
        if (width <= 0) {
            continue;
        }
        const BackendStyle& style = subject_.palette[band.backend];
        const std::string number = std::to_string(band.split);
        const std::string box = joined({id, " split ", number});
        dot_.node(box, numbered(subject_,
                                placed(left, bottom, width, panel_height)
                                    .raw("label", "")
                                    .text("tooltip", "split " + number + " on " + subject_.backend_name(band.backend))
                                    .raw("fillcolor", style.pale)
                                    .raw("color", "#bbbbbb")
                                    .raw("penwidth", "0.5"),
                                band.backend));
        if (width > 26) {
            draw_text(box + " name", sized(html_label((width > 52 ? "split " : "") + number + " " + style.letter), 8), left,
                      bottom + panel_height + 1, width, 12);
        }
    }
}

void MemoryPicture::draw_axes(const OffsetAxis& axis, const std::string& id, double bottom) {
    constexpr double line = 12;
    for (const OffsetAxis::Fold& fold : axis.folds()) {
        dot_.node(id + " fold " + std::to_string(fold.first),
                  placed(axis_width, bottom + fold.bottom, width_, fold.top - fold.bottom)
                      .raw("label", "")
                      .raw("fillcolor", "#ffffff")
                      .raw("color", "#bbbbbb")
                      .raw("style", "filled,dashed")
                      .raw("penwidth", "0.3")
                      .text("tooltip", words::bytes(fold.end - fold.first) + " that this plan does not use"));
    }
    dot_.node(id + " frame",
              placed(axis_width, bottom, width_, panel_height).raw("label", "").raw("style", "solid").raw("color", "#666666"));
    for (const OffsetAxis::Tick& tick : axis.ticks(line)) {
        draw_text(id + " offset " + std::to_string(tick.offset), sized(html_label(tick.label), 9), 0, bottom + tick.y - line / 2,
                  axis_width - 4, line);
    }
    const int32_t step = round_step(n_uses_ / 12.0);
    for (int32_t use = 0; use <= n_uses_; use += step) {
        draw_text(id + " use " + std::to_string(use), sized(html_label(words::count(use)), 9), x_of(use) - 30, bottom - 15, 60,
                  12);
    }
}

void MemoryPicture::draw_tensor(const OffsetAxis& axis, const record::Placement& placement, Panel& panel, double bottom) {
    const int32_t first = std::max(0, placement.first_use), end = lifetimes_.end_of(placement);
    const double left = x_of(first), width = x_of(end) - left, below = axis.y(placement.offset);
    const double height = axis.y(placement.offset + placement.size) - below;
    const TensorId tensor = placement.tensor;
    const BackendId backend = subject_.backend_of(tensor);
    const BackendStyle& style = subject_.palette[backend];
    const std::string& name = subject_.name(tensor);
    std::string label = label_of(name, placement.size, width, height);
    if (const std::string number = std::to_string(panel.keyed.size() + 1);
        label.empty() && height >= 7 && width >= 2 + letter * to_double(number.size())) {
        panel.keyed.push_back(&placement);
        label = sized(number, 7);
    }
    if (label.empty()) {
        panel.thin.push_back(&placement);
    }
    Attributes attributes = placed(left, bottom + below, width, height);
    label.empty() ? attributes.raw("label", "") : attributes.html("label", label);
    std::string story = name + ": " + words::bytes(placement.size) + " at offset " + words::count(placement.offset) +
                        ", used from " + words::count(first) + " to " + words::count(placement.last_use);
    if (placement.in_place_of != no_tensor) {
        story += ", in the place of " + subject_.name(placement.in_place_of);
    }
    attributes.text("tooltip", story)
        .raw("fillcolor", style.fill)
        .raw("color", style.line)
        .raw("penwidth", height < 3 || width < 3 ? "0.1" : "0.6");
    if (placement.in_place_of != no_tensor) {
        attributes.raw("style", "filled,dotted");
    } else if (subject_.made_by(tensor) != nullptr) {
        attributes.raw("style", "filled,dashed");
    }
    attributes = numbered(subject_, attributes, backend, tensor);
    attributes.number("offset", placement.offset)
        .number("size", placement.size)
        .number("first_use", placement.first_use)
        .number("last_use", placement.last_use);
    dot_.node(subject_.id(tensor), attributes);
}

/// What the numbers mean, in columns; returns the points that it takes.
double MemoryPicture::draw_key(const Panel& panel, const std::string& id, double top) {
    const auto n_columns = std::max<size_t>(1, static_cast<size_t>(width_ / key_column));
    const size_t n_rows = (panel.keyed.size() + n_columns - 1) / n_columns;
    const double column = width_ / to_double(n_columns);
    const auto put = [&](const std::string& what, const std::string& text, double left, double row, double width) {
        const std::string cell =
            "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\"><tr><td align=\"left\" "
            "width=\"" +
            std::to_string(static_cast<int>(width)) + "\">" + text + "</td></tr></table>";
        draw_text(id + " key " + what, cell, left, top - (row + 1) * text_line, width, text_line);
    };
    for (size_t i = 0; i < panel.keyed.size(); ++i) {
        const record::Placement& p = *panel.keyed[i];
        const std::string number = std::to_string(i + 1), size = words::bytes(p.size);
        const auto room = static_cast<size_t>(column / 4.6) - number.size() - size.size() - 3;
        put(number,
            sized(bold(number, gap), 8) + sized(html_label(clipped(subject_.name(p.tensor), room)) + gap, 8) +
                sized(html_label(size), 8, LabelInk::grey),
            axis_width + column * to_double(i / n_rows), to_double(i % n_rows), column);
    }
    if (panel.thin.empty()) {
        return to_double(n_rows) * text_line;
    }
    constexpr size_t most_named = 8;
    std::vector<std::string> names; // several tensors may have the same
    int n_others = 0;
    for (const record::Placement* p : panel.thin) {
        std::string name = clipped(subject_.name(p->tensor), 20);
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            continue;
        }
        if (names.size() < most_named) {
            names.push_back(std::move(name));
        } else {
            ++n_others;
        }
    }
    std::string rest = "too thin for a number: " + joined(names, ", ");
    if (n_others > 0) {
        rest += " " + words::and_more(n_others, "tensor");
    }
    put("rest", sized(html_label(rest), 8, LabelInk::grey), axis_width, to_double(n_rows), width_);
    return to_double(n_rows + 1) * text_line;
}

/// Returns where it ends.
double MemoryPicture::draw_panel(Panel& panel, double bottom) {
    const std::string id = "buffer " + std::to_string(panel.buffer_type) + "." + std::to_string(panel.chunk);
    std::vector<std::pair<int64_t, int64_t>> used;
    for (const record::Placement* placement : panel.tensors) {
        used.emplace_back(placement->offset, placement->offset + placement->size);
    }
    const OffsetAxis axis(std::move(used), panel.size, panel_height);
    draw_bands(id, bottom);
    draw_axes(axis, id, bottom);
    for (const record::Placement* placement : panel.tensors) {
        draw_tensor(axis, *placement, panel, bottom);
    }
    // At the left: text by itself would be centred.
    const std::string title =
        "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\"><tr><td align=\"left\" width=\"" +
        std::to_string(static_cast<int>(width_)) + "\">" + sized(title_of(panel), 11) + "</td></tr></table>";
    draw_text(id + " title", title, axis_width, bottom + panel_height + 16, width_, 18);
    return bottom - 22 - draw_key(panel, id, bottom - 22);
}

std::string MemoryPicture::draw() {
    int64_t bytes = 0;
    for (const auto& [key, panel] : panels_) {
        bytes += panel.size;
    }
    const std::string totals = words::counted(panels_.size(), "compute buffer") + ", " + words::bytes(bytes) + ", " +
                               words::counted(subject_.state.placements.size(), "tensor");
    const std::string heading = heading_markup(subject_, totals, {},
                                               {{"→", std::string(places_count)},
                                                {"↑", "offset in the buffer; empty strips: folded, nothing lies there"},
                                                {"12", "a number in a box: its line below"},
                                                {"— —", "dashed: a copy"},
                                                {"····", "dotted: works in the place of its parent"}});
    dot_.graph(picture_attributes(heading).raw("layout", "nop2").raw("outputorder", "nodesfirst"));
    dot_.node_defaults(Attributes()
                           .raw("shape", "box")
                           .raw("fixedsize", "true")
                           .raw("style", "filled")
                           .raw("margin", "0")
                           .raw("fontname", "Helvetica,Arial,sans-serif"));
    double bottom = 0;
    for (auto& [key, panel] : panels_) {
        bottom = draw_panel(panel, bottom) - panel_height - panel_gap + 22;
    }
    return dot_.finish();
}

} // namespace

std::string draw_memory(const Subject& subject, int32_t scheduler, std::span<const record::BufferSize> buffers) {
    return MemoryPicture(subject, scheduler, buffers).draw();
}

} // namespace schedscope
