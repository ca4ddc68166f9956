#include "runtime/numbers.h"
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

constexpr double panel_height = 300, panel_gap = 78, axis_width = 72; // points, as everything here
constexpr double min_width = 640, max_width = 3600, width_per_use = 12;

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

/// Name and size in as many lines as fit; "" where nothing does.
std::string label_of(const std::string& name, int64_t bytes, double width, double height) {
    constexpr double character = 5.2, line = 10;
    const auto room = static_cast<size_t>(std::max(0.0, (width - 4) / character));
    auto lines = static_cast<size_t>(std::max(0.0, height / line));
    if (room < 4 || lines == 0) {
        return "";
    }
    std::string label;
    const auto append = [&](const std::string& text) { label += (label.empty() ? "" : "<br/>") + sized(html_label(text), 8); };
    for (std::string rest = name; !rest.empty() && lines > 0; --lines) {
        const std::string most = clipped(rest, room), last = clipped(rest, room - 1);
        const bool all = most.size() == rest.size();
        if (all || lines == 1) {
            append(all ? rest : last);
            rest.clear();
        } else {
            const std::string part = most.substr(0, most.size() - std::string_view("…").size());
            append(part);
            rest.erase(0, part.size());
        }
    }
    if (const std::string size = words::bytes(bytes); lines > 0 && size.size() <= room) {
        append(size);
    }
    return label;
}

/// One buffer: a panel of the picture.
struct Panel {
    BufferTypeId buffer_type = no_buffer_type;
    int32_t chunk = 0;
    int64_t size = 0;
    std::vector<const record::Placement*> tensors;
};

/// What one split does in the allocated graph: for each input a placeholder and the copy, then its nodes.
struct Band {
    int32_t first = 0, end = 0;
    int32_t split = 0;
    BackendId backend = no_backend;
};

class MemoryPicture {
public:
    MemoryPicture(const Subject& subject, std::span<const record::BufferSize> buffers);
    std::string draw();

private:
    void draw_panel(const Panel& panel, double bottom);
    void draw_bands(const std::string& id, double bottom);
    void draw_axes(const OffsetAxis& axis, const std::string& id, double bottom);
    void draw_tensor(const OffsetAxis& axis, const record::Placement& placement, double bottom);
    void draw_text(const std::string& id, const std::string& markup, double left, double bottom, double width, double height);
    std::string title_of(const Panel& panel) const;
    double x_of(int32_t use) const { return axis_width + width_ * use / n_uses_; }

    const Subject& subject_;
    DotText dot_;
    std::map<std::pair<BufferTypeId, int32_t>, Panel> panels_;
    const Lifetimes lifetimes_;
    std::vector<Band> bands_;
    int32_t n_uses_ = 1;
    double width_ = min_width;
};

MemoryPicture::MemoryPicture(const Subject& subject, std::span<const record::BufferSize> buffers)
    : subject_(subject), dot_("memory"), lifetimes_(subject.state.placements) {
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
    return bold(name, gap) + (panel.chunk > 0 ? "chunk " + std::to_string(panel.chunk) + ", " : "") + words::bytes(panel.size) +
           ", " + words::counted(panel.tensors.size(), "tensor") + "; most in use " + words::bytes(peak.bytes) + " at " +
           words::count(peak.at);
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
        dot_.node(id + " split " + number,
                  numbered(subject_,
                           placed(left, bottom, width, panel_height)
                               .raw("label", "")
                               .text("tooltip", "split " + number + " on " + subject_.backend_name(band.backend))
                               .raw("fillcolor", style.pale)
                               .raw("color", "#bbbbbb")
                               .raw("penwidth", "0.5"),
                           band.backend));
        if (width > 26) {
            draw_text(id + " split " + number + " name",
                      sized(html_label((width > 52 ? "split " : "") + number + " " + style.letter), 8), left,
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
        draw_text(id + " offset " + std::to_string(tick.offset), sized(html_label(words::bytes(tick.offset)), 9), 0,
                  bottom + tick.y - line / 2, axis_width - 4, line);
    }
    for (int quarter = 0; quarter <= 4; ++quarter) {
        const std::string number = std::to_string(quarter);
        draw_text(id + " use " + number, sized(html_label(words::count(static_cast<int64_t>(n_uses_) * quarter / 4)), 9),
                  axis_width + width_ * quarter / 4 - 30, bottom - 15, 60, 12);
    }
}

void MemoryPicture::draw_tensor(const OffsetAxis& axis, const record::Placement& placement, double bottom) {
    const int32_t first = std::max(0, placement.first_use), end = lifetimes_.end_of(placement);
    const double left = x_of(first), width = x_of(end) - left, below = axis.y(placement.offset);
    const double height = axis.y(placement.offset + placement.size) - below;
    const TensorId tensor = placement.tensor;
    const BackendId backend = subject_.backend_of(tensor);
    const BackendStyle& style = subject_.palette[backend];
    const std::string& name = subject_.name(tensor);
    const std::string label = label_of(name, placement.size, width, height);
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

void MemoryPicture::draw_panel(const Panel& panel, double bottom) {
    const std::string id = "buffer " + std::to_string(panel.buffer_type) + "." + std::to_string(panel.chunk);
    std::vector<std::pair<int64_t, int64_t>> used;
    for (const record::Placement* placement : panel.tensors) {
        used.emplace_back(placement->offset, placement->offset + placement->size);
    }
    const OffsetAxis axis(std::move(used), panel.size, panel_height);
    draw_bands(id, bottom);
    draw_axes(axis, id, bottom);
    for (const record::Placement* placement : panel.tensors) {
        draw_tensor(axis, *placement, bottom);
    }
    // At the left of a picture that may be many screens wide; text by itself would be centred.
    const std::string title =
        "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\"><tr><td align=\"left\" width=\"" +
        std::to_string(static_cast<int>(width_)) + "\">" + sized(title_of(panel), 11) + "</td></tr></table>";
    draw_text(id + " title", title, axis_width, bottom + panel_height + 16, width_, 18);
}

std::string MemoryPicture::draw() {
    int64_t bytes = 0;
    for (const auto& [key, panel] : panels_) {
        bytes += panel.size;
    }
    const std::string totals = words::counted(panels_.size(), "compute buffer") + ", " + words::bytes(bytes) + ", " +
                               words::counted(subject_.state.placements.size(), "tensor");
    const std::string heading = heading_markup(subject_, totals, {},
                                               {{"→", "node being evaluated, copies into a split counted"},
                                                {"↑", "offset in the buffer; empty strips: folded, nothing lies there"},
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
    for (const auto& [key, panel] : panels_) {
        draw_panel(panel, bottom);
        bottom -= panel_height + panel_gap;
    }
    return dot_.finish();
}

} // namespace

std::string draw_memory(const Subject& subject, std::span<const record::BufferSize> buffers) {
    return MemoryPicture(subject, buffers).draw();
}

} // namespace schedscope
