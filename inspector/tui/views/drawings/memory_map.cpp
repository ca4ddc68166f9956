#include "inspector/tui/views/drawings/memory_map.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/lifetimes.h"
#include "traces/history/words/misfit_words.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace schedscope::tui {
namespace {

constexpr int offset_label_width = 10;
constexpr int most_rows = 12, least_rows = 6; ///< of one buffer: a heading, the map, what is needed at once
constexpr std::array<char32_t, 3> shades{U'▓', U'▒', U'░'};
constexpr std::array<char32_t, 9> heights{U' ', U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█'};

} // namespace

void MemoryMap::set(const std::vector<record::Placement>& placements, std::vector<DrawnBuffer> buffers) {
    placements_ = &placements;
    end_ = 1;
    TensorId most = no_tensor;
    for (const record::Placement& p : placements) {
        end_ = std::max(end_, p.last_use + 1);
        most = std::max(most, p.tensor);
    }
    std::vector<int> row_of(most + 1, -1);
    for (size_t i = placements.size(); i-- > 0;) { // of several rows of a tensor, the first one
        if (placements[i].tensor >= 0) {
            row_of[placements[i].tensor] = int_of(i);
        }
    }
    family_.resize(placements.size());
    for (size_t i = 0; i < placements.size(); ++i) {
        int row = int_of(i);
        for (size_t hops = 0; hops < placements.size(); ++hops) {
            const TensorId parent = placements[row].in_place_of;
            const int of_parent = parent >= 0 && parent <= most ? row_of[parent] : -1;
            if (of_parent < 0) {
                break;
            }
            row = of_parent;
        }
        family_[i] = row;
    }
    buffers_.clear();
    const Lifetimes lifetimes(placements); // what is worked on in place counts once
    for (DrawnBuffer& buffer : buffers) {
        Shown shown;
        std::vector<const record::Placement*> inside;
        for (const int row : buffer.rows) {
            inside.push_back(&placements[row]);
            shown.reached = std::max(shown.reached, placements[row].offset + placements[row].size);
        }
        shown.live.assign(end_, 0);
        auto from = shown.live.begin();
        int64_t bytes = 0;
        for (const Lifetimes::Live& live : lifetimes.live_in(inside)) {
            const auto to = shown.live.begin() + std::clamp(live.at, 0, end_);
            std::fill(from, to, bytes);
            from = to;
            bytes = live.bytes;
        }
        std::fill(from, shown.live.end(), bytes);
        const Lifetimes::Peak peak = lifetimes.peak_of(inside);
        shown.peak_at = peak.at;
        shown.peak_of = peak.taken == nullptr ? no_tensor : peak.taken->tensor;
        shown.buffer = std::move(buffer);
        buffers_.push_back(std::move(shown));
    }
}

int MemoryMap::rows(InspectorSession&, int body_rows, int) const {
    if (!placements_ || placements_->empty()) {
        return 0;
    }
    const int room = body_rows - 8; // a list of some lines stays
    const int n = n_of(buffers_);
    if (room < least_rows) {
        return 0;
    }
    if (n > 1 && room / n >= least_rows) {
        return n * std::min(room / n, most_rows);
    }
    return std::min(room, most_rows);
}

std::string MemoryMap::title(const InspectorSession& session) const {
    const std::vector<MemoryMisfit> misfits = memory_misfits(session.history().session());
    return misfits.empty() ? "offsets over time: a row of bytes, a column of places (see used)"
                           : joined(misfits, ", ", &MemoryMisfit::brief);
}

int MemoryMap::shade_of(int row) const {
    // Neighbours in the list are neighbours in the buffer: they get different shades, those who share a place the same one.
    return family_[row] % n_of(shades);
}

std::vector<Line> MemoryMap::draw(InspectorSession& session, int selected, int height, int width) {
    Cells cells(height, width);
    drawn_.clear(height, width);
    const int n = n_of(buffers_);
    if (n > 0 && height / n >= least_rows) {
        for (int i = 0; i < n; ++i) {
            draw_buffer(session, buffers_[i], selected, cells, {i * (height / n), height / n, ""});
        }
    } else if (n > 0) {
        const auto holds = [&](const Shown& b) {
            return std::find(b.buffer.rows.begin(), b.buffer.rows.end(), selected) != b.buffer.rows.end();
        };
        const auto found = std::find_if(buffers_.begin(), buffers_.end(), holds);
        const auto shown = found == buffers_.end() ? buffers_.begin() : found;
        const std::string which =
            n > 1 ? joined({std::to_string(shown - buffers_.begin() + 1), "/", std::to_string(n), " "}) : "";
        draw_buffer(session, *shown, selected, cells, {0, height, which});
    }
    return cells.lines();
}

// The axis folds a range to a strip of seven points at most: a row is as high.
constexpr double points = 7;

/// A fold is told in the row that it reaches where most cells are empty or show what a neighbouring row shows as well.
void MemoryMap::make_room_for_folds(Map& map) {
    const auto cell = [&](int r, int c) -> int& { return map.cells[r * static_cast<size_t>(map.n_columns) + c]; };
    const auto is_free = [&](int r, int c) {
        return cell(r, c) < 0 || (r > 0 && cell(r - 1, c) == cell(r, c)) || (r + 1 < map.n_rows && cell(r + 1, c) == cell(r, c));
    };
    for (const OffsetAxis::Fold& fold : map.axis.folds()) {
        const int first = std::clamp(static_cast<int>(fold.bottom / points), 0, map.n_rows - 1);
        const int last = std::clamp(static_cast<int>(fold.top / points), first, map.n_rows - 1);
        int chosen = first, most = -1;
        for (int r = first; r <= last; ++r) {
            int n = 0;
            for (int c = 0; c < map.n_columns; ++c) {
                n += is_free(r, c) ? 1 : 0;
            }
            if (n > most) {
                chosen = r;
                most = n;
            }
        }
        for (int c = 0; c < map.n_columns; ++c) {
            if (is_free(chosen, c)) {
                cell(chosen, c) = -1;
            }
        }
        map.fold_rows.push_back(chosen);
    }
}

MemoryMap::Area MemoryMap::area_of(const record::Placement& p, const Map& map) const {
    const auto column_of = [&](int64_t use) { return int_of(std::max<int64_t>(use, 0) * map.n_columns / end_); };
    Area area{map.axis.y(p.offset) / points, map.axis.y(p.offset + p.size) / points, 0, 0, column_of(p.first_use), 0};
    area.bottom = std::max(static_cast<int>(area.low), 0);
    area.top = std::min(static_cast<int>(std::ceil(std::max(area.high, area.low + 0.01))), map.n_rows);
    area.right = std::min(std::max(column_of(p.last_use + 1), area.left + 1), map.n_columns);
    return area;
}

MemoryMap::Map MemoryMap::map_of(const Shown& shown, int n_rows, int n_columns) const {
    std::vector<std::pair<int64_t, int64_t>> used;
    used.reserve(shown.buffer.rows.size());
    for (const int row : shown.buffer.rows) {
        const record::Placement& p = (*placements_)[row];
        used.emplace_back(p.offset, p.offset + p.size);
    }
    Map map{n_rows, n_columns, {std::move(used), std::max(shown.buffer.size.bytes, shown.reached), n_rows * points}, {}, {}};
    map.cells.assign(n_rows * static_cast<size_t>(n_columns), -1);
    std::vector<double> covered(map.cells.size(), 0);
    for (const int row : shown.buffer.rows) {
        const record::Placement& p = (*placements_)[row];
        const Area area = area_of(p, map);
        for (int r = area.bottom; r < area.top; ++r) {
            const double cover = std::min(area.high, r + 1.0) - std::max(area.low, to_double(r));
            const size_t line = r * static_cast<size_t>(n_columns);
            for (size_t at = line + area.left; at < line + area.right; ++at) {
                if (cover > covered[at]) {
                    covered[at] = cover;
                    map.cells[at] = row;
                }
            }
        }
    }
    make_room_for_folds(map);
    return map;
}

void MemoryMap::draw_buffer(InspectorSession& session, Shown& shown, int selected, Cells& cells, const Room& room) {
    const int first_row = room.first_row, height = room.height;
    const int n_rows = height - 2, n_columns = cells.width() - offset_label_width;
    if (n_rows < 2 || n_columns < 8) {
        return;
    }
    const DrawnBuffer& buffer = shown.buffer;
    const std::vector<int64_t>& live = shown.live;
    const int peak_at = shown.peak_at;
    const int64_t peak = live[peak_at];
    const std::string title = room.which + session.history().buffer_type_name(buffer.buffer_type) +
                              (buffer.chunk > 0 ? " chunk " + std::to_string(buffer.chunk) : "") + ": " +
                              words::bytes(buffer.size) + ", used to " + words::bytes(shown.reached) + ", most at once " +
                              words::bytes(peak) + " at ";
    const std::string peak_of = shown.peak_of == no_tensor ? "" : session.name(shown.peak_of);
    const std::string place = place_in_words(peak_at, peak_of);
    const bool has_room = text_width(title) + text_width(place) <= cells.width(); // the details have the name
    cells.text(first_row, 0, title + (has_room ? place : place_in_words(peak_at, "")), bold);

    if (!shown.map || shown.map->n_rows != n_rows || shown.map->n_columns != n_columns) {
        shown.map = map_of(shown, n_rows, n_columns);
    }
    const Map& map = *shown.map;
    const Area chosen = selected >= 0 && std::find(buffer.rows.begin(), buffer.rows.end(), selected) != buffer.rows.end()
                            ? area_of((*placements_)[selected], map)
                            : Area{};
    const auto at = [&](int r, int c) { // the selected one is never hidden
        return r >= chosen.bottom && r < chosen.top && c >= chosen.left && c < chosen.right
                   ? selected
                   : map.cells[r * static_cast<size_t>(n_columns) + c];
    };
    const auto line_of = [&](int r) { return first_row + n_rows - r; }; // the lowest bytes at the bottom
    for (int r = 0; r < n_rows; ++r) {
        for (int c = 0; c < n_columns; ++c) {
            const int row = at(r, c);
            if (row < 0) {
                continue;
            }
            const TensorId id = (*placements_)[row].tensor;
            const size_t index = id;
            const auto& tensors = session.state().tensors;
            const Style ink =
                backend_style(id >= 0 && index < tensors.size() ? tensors[index].backend : no_backend, session.n_backends());
            const bool is_selected = row == selected;
            cells.put(line_of(r), offset_label_width + c, is_selected ? U'█' : shades[shade_of(row)], is_selected ? accent : ink);
            drawn_.put(line_of(r), offset_label_width + c, row);
        }
    }
    // Where that many cells of a row are empty; −1: nowhere.
    const auto empty_run = [&](int r, int width) {
        for (int c = 0, run = 0; c < n_columns; ++c) {
            run = at(r, c) < 0 ? run + 1 : 0;
            if (run == width) {
                return c + 1 - width;
            }
        }
        return -1;
    };
    const std::vector<OffsetAxis::Fold>& folds = map.axis.folds();
    for (size_t i = 0; i < folds.size();) {
        const int r = map.fold_rows[i];
        int64_t most = 0; // of several in a row
        for (; i < folds.size() && map.fold_rows[i] == r; ++i) {
            most = std::max(most, folds[i].end - folds[i].first);
        }
        for (int c = 0; c < n_columns; ++c) {
            if (at(r, c) < 0) {
                cells.put(line_of(r), offset_label_width + c, U'┄', dim);
            }
        }
        const std::string words = " " + words::bytes(most) + " in which nothing lies ";
        if (const int c = empty_run(r, text_width(words)); c >= 0) {
            cells.text(line_of(r), offset_label_width + c, words, dim);
        }
    }
    // Names where a run of cells has room for them, each once.
    std::vector<int> named;
    for (int r = n_rows - 1; r >= 0; --r) {
        for (int c = 0; c < n_columns;) {
            const int row = at(r, c);
            int end = c + 1;
            while (end < n_columns && at(r, end) == row) {
                ++end;
            }
            if (row >= 0 && std::find(named.begin(), named.end(), row) == named.end()) {
                const std::string name = session.name((*placements_)[row].tensor);
                if (text_width(name) + 2 <= end - c) {
                    cells.text(line_of(r), offset_label_width + c + 1, name,
                               row == selected ? accent.with_reverse() : plain.with_reverse());
                    named.push_back(row);
                }
            }
            c = end;
        }
    }
    std::string below; // two places may read alike
    for (const OffsetAxis::Tick& tick : map.axis.ticks(points)) {
        if (tick.label == below) {
            continue;
        }
        below = tick.label;
        const int r = std::clamp(static_cast<int>(tick.y / points), 0, n_rows - 1);
        cells.text(line_of(r), offset_label_width - 1 - text_width(tick.label), tick.label, dim, offset_label_width);
    }
    cells.text(first_row + height - 1, 0, "needed", dim, offset_label_width);
    for (int c = 0; c < n_columns; ++c) {
        const size_t first = static_cast<int64_t>(c) * end_ / n_columns;
        const auto end = std::max(static_cast<size_t>(static_cast<int64_t>(c + 1) * end_ / n_columns), first + 1);
        int64_t most = 0;
        for (size_t i = first; i < std::min(end, live.size()); ++i) {
            most = std::max(most, live[i]);
        }
        const auto level = peak > 0 ? (most * 8 + peak - 1) / peak : 0;
        const bool is_peak = static_cast<size_t>(peak_at) >= first && static_cast<size_t>(peak_at) < end;
        cells.put(first_row + height - 1, offset_label_width + c, heights[std::min<size_t>(level, 8)], is_peak ? accent : dim);
    }
}

} // namespace schedscope::tui
