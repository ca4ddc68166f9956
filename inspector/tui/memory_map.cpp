#include "inspector/tui/memory_map.h"

#include "inspector/tui/text.h"
#include "inspector/tui/view.h"
#include "traces/lifetimes.h"
#include "viz/offset_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace schedscope::tui {
namespace {

constexpr int label_width = 10;
constexpr int most_rows = 12, least_rows = 6; ///< of one buffer: a heading, the map, what is needed at once
constexpr std::array<char32_t, 3> shades{U'▓', U'▒', U'░'};
constexpr std::array<char32_t, 9> heights{U' ', U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█'};

} // namespace

std::vector<int64_t> live_bytes(const std::vector<const record::Placement*>& placements, int32_t n_nodes) {
    std::vector<record::Placement> plain;
    plain.reserve(placements.size());
    for (const record::Placement* p : placements) {
        plain.push_back(*p);
    }
    const Lifetimes lifetimes(plain); // what is worked on in place counts once
    std::vector<int64_t> bytes(static_cast<size_t>(std::max(n_nodes, 1)), 0);
    for (const record::Placement& p : plain) {
        for (int32_t at = std::max(p.first_use, 0); at < std::min(lifetimes.end_of(p), n_nodes); ++at) {
            bytes[static_cast<size_t>(at)] += p.size;
        }
    }
    return bytes;
}

void MemoryMap::set(Session&, const std::vector<record::Placement>& placements, std::vector<Buffer> buffers) {
    placements_ = &placements;
    buffers_ = std::move(buffers);
    end_ = 1;
    std::unordered_map<TensorId, int> row_of;
    for (size_t i = 0; i < placements.size(); ++i) {
        end_ = std::max(end_, placements[i].last_use + 1);
        row_of.emplace(placements[i].tensor, static_cast<int>(i));
    }
    family_.resize(placements.size());
    for (size_t i = 0; i < placements.size(); ++i) {
        int row = static_cast<int>(i);
        for (size_t hops = 0; hops < placements.size(); ++hops) {
            const auto parent = row_of.find(placements[static_cast<size_t>(row)].in_place_of);
            if (parent == row_of.end()) {
                break;
            }
            row = parent->second;
        }
        family_[i] = row;
    }
}

int MemoryMap::rows(Session&, int body_rows, int) const {
    if (!placements_ || placements_->empty()) {
        return 0;
    }
    const int room = body_rows - 8; // a list of some lines stays
    const int n = static_cast<int>(buffers_.size());
    if (room < least_rows) {
        return 0;
    }
    if (n > 1 && room / n >= least_rows) {
        return n * std::min(room / n, most_rows);
    }
    return std::min(room, most_rows);
}

std::string MemoryMap::title(const Session&) const { return "offsets over time: a row of bytes, a column of places (see used)"; }

int MemoryMap::row_at(int line, int column) const {
    if (line < 0 || static_cast<size_t>(line) >= drawn_.size()) {
        return -1;
    }
    const std::vector<int>& cells = drawn_[static_cast<size_t>(line)];
    return column >= 0 && static_cast<size_t>(column) < cells.size() ? cells[static_cast<size_t>(column)] : -1;
}

int MemoryMap::shade_of(int row) const {
    // Neighbours in the list are neighbours in the buffer: they get different shades, those who share a place the same one.
    return family_[static_cast<size_t>(row)] % static_cast<int>(shades.size());
}

std::vector<Line> MemoryMap::draw(Session& session, int selected, int height, int width) {
    Cells cells(height, width);
    drawn_.assign(static_cast<size_t>(height), std::vector<int>(static_cast<size_t>(width), -1));
    const int n = static_cast<int>(buffers_.size());
    if (n > 0 && height / n >= least_rows) {
        for (int i = 0; i < n; ++i) {
            draw_buffer(session, buffers_[static_cast<size_t>(i)], selected, cells, i * (height / n), height / n);
        }
    } else if (n > 0) {
        const auto holds = [&](const Buffer& b) { return std::find(b.rows.begin(), b.rows.end(), selected) != b.rows.end(); };
        const auto found = std::find_if(buffers_.begin(), buffers_.end(), holds);
        draw_buffer(session, found == buffers_.end() ? buffers_.front() : *found, selected, cells, 0, height);
    }
    return cells.lines();
}

void MemoryMap::draw_buffer(Session& session, const Buffer& buffer, int selected, Cells& cells, int first_row, int height) {
    const int n_rows = height - 2, n_columns = cells.width() - label_width;
    if (n_rows < 2 || n_columns < 8) {
        return;
    }
    std::vector<std::pair<int64_t, int64_t>> used;
    std::vector<const record::Placement*> here;
    int64_t reached = 0;
    for (const int row : buffer.rows) {
        const record::Placement& p = (*placements_)[static_cast<size_t>(row)];
        used.emplace_back(p.offset, p.offset + p.size);
        here.push_back(&p);
        reached = std::max(reached, p.offset + p.size);
    }
    const std::vector<int64_t> live = live_bytes(here, end_);
    const auto peak = std::max_element(live.begin(), live.end());
    const int peak_at = static_cast<int>(peak - live.begin());
    cells.text(first_row, 0,
               session.history().buffer_type_name(buffer.buffer_type) +
                   (buffer.chunk > 0 ? " chunk " + std::to_string(buffer.chunk) : "") + ": " + bytes_text(buffer.size) +
                   ", used to " + bytes_text(reached) + ", most at once " + bytes_text(*peak) + " at place " +
                   std::to_string(peak_at),
               bold);

    // The axis folds a range to a strip of seven points at most: a row is as high.
    constexpr double points = 7;
    const OffsetAxis axis(std::move(used), std::max(buffer.size, reached), n_rows * points);
    struct Best {
        double cover = 0;
        int row = -1;
    };
    std::vector<Best> best(static_cast<size_t>(n_rows) * static_cast<size_t>(n_columns));
    const auto at = [&](int row, int column) -> Best& {
        return best[static_cast<size_t>(row) * static_cast<size_t>(n_columns) + static_cast<size_t>(column)];
    };
    const auto column_of = [&](int64_t use) { return static_cast<int>(std::max<int64_t>(use, 0) * n_columns / end_); };
    for (const int row : buffer.rows) {
        const record::Placement& p = (*placements_)[static_cast<size_t>(row)];
        const double bottom = axis.y(p.offset) / points, top = axis.y(p.offset + p.size) / points;
        const int left = column_of(p.first_use);
        const int right = std::max(column_of(p.last_use + 1) - 1, left);
        for (int r = std::max(static_cast<int>(bottom), 0); r < n_rows && r < std::max(top, bottom + 0.01); ++r) {
            double cover = std::min(top, r + 1.0) - std::max(bottom, static_cast<double>(r));
            if (row == selected) {
                cover += 2; // never hidden
            }
            for (int c = left; c <= std::min(right, n_columns - 1); ++c) {
                if (Best& b = at(r, c); cover > b.cover) {
                    b = {cover, row};
                }
            }
        }
    }

    const auto line_of = [&](int r) { return first_row + n_rows - r; }; // the lowest bytes at the bottom
    for (int r = 0; r < n_rows; ++r) {
        for (int c = 0; c < n_columns; ++c) {
            const int row = at(r, c).row;
            if (row < 0) {
                continue;
            }
            const TensorId id = (*placements_)[static_cast<size_t>(row)].tensor;
            const auto index = static_cast<size_t>(id);
            const auto& tensors = session.state().tensors;
            const Style ink =
                backend_style(id >= 0 && index < tensors.size() ? tensors[index].backend : no_backend, session.n_backends());
            const bool is_selected = row == selected;
            cells.put(line_of(r), label_width + c, is_selected ? U'█' : shades[static_cast<size_t>(shade_of(row))],
                      is_selected ? accent : ink);
            drawn_[static_cast<size_t>(line_of(r))][static_cast<size_t>(label_width + c)] = row;
        }
    }
    for (const OffsetAxis::Fold& fold : axis.folds()) {
        const int r = std::clamp(static_cast<int>(fold.bottom / points + 0.5), 0, n_rows - 1);
        for (int c = 0; c < n_columns; ++c) {
            if (at(r, c).row < 0) {
                cells.put(line_of(r), label_width + c, U'┄', dim);
            }
        }
        const std::string words = " " + bytes_text(fold.end - fold.first) + " in which nothing lies ";
        if (at(r, n_columns / 2).row < 0) {
            cells.text(line_of(r), label_width + 2, words, dim);
        }
    }
    // Names where a run of cells has room for them, each once.
    std::vector<int> named;
    for (int r = n_rows - 1; r >= 0; --r) {
        for (int c = 0; c < n_columns;) {
            const int row = at(r, c).row;
            int end = c + 1;
            while (end < n_columns && at(r, end).row == row) {
                ++end;
            }
            if (row >= 0 && std::find(named.begin(), named.end(), row) == named.end()) {
                const std::string name = session.name((*placements_)[static_cast<size_t>(row)].tensor);
                if (text_width(name) + 2 <= end - c) {
                    cells.text(line_of(r), label_width + c + 1, name,
                               row == selected ? accent.with_reverse() : plain.with_reverse());
                    named.push_back(row);
                }
            }
            c = end;
        }
    }
    int last_labelled = n_rows + 1;
    for (int r = n_rows - 1; r >= 0; --r) { // the offset at which a row begins, where it is one that something begins at
        int64_t lowest = -1;
        for (const int row : buffer.rows) {
            const record::Placement& p = (*placements_)[static_cast<size_t>(row)];
            if (static_cast<int>(axis.y(p.offset) / points) == r && (lowest < 0 || p.offset < lowest)) {
                lowest = p.offset;
            }
        }
        if (lowest >= 0 && last_labelled - r >= 1) {
            const std::string label = grouped(lowest);
            cells.text(line_of(r), label_width - 1 - text_width(label), label, dim, label_width);
            last_labelled = r;
        }
    }
    cells.text(first_row + height - 1, 0, "needed", dim, label_width);
    for (int c = 0; c < n_columns; ++c) {
        const auto first = static_cast<size_t>(static_cast<int64_t>(c) * end_ / n_columns);
        const auto end = std::max(static_cast<size_t>(static_cast<int64_t>(c + 1) * end_ / n_columns), first + 1);
        int64_t most = 0;
        for (size_t i = first; i < std::min(end, live.size()); ++i) {
            most = std::max(most, live[i]);
        }
        const auto level = *peak > 0 ? static_cast<size_t>((most * 8 + *peak - 1) / *peak) : 0;
        const bool is_peak = static_cast<size_t>(peak_at) >= first && static_cast<size_t>(peak_at) < end;
        cells.put(first_row + height - 1, label_width + c, heights[std::min<size_t>(level, 8)], is_peak ? accent : dim);
    }
}

} // namespace schedscope::tui
