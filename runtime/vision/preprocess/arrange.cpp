#include "runtime/vision/preprocess/arrange.h"

#include "runtime/numbers.h"

namespace schedscope::vision {

namespace {

/// The part of the tiles' picture that shows the image, in rows of embeddings.
struct ShownRows {
    int32_t left = 0, right = 0, top = 0, bottom = 0;
};

ShownRows shown(const Arrangement& a) {
    const int32_t width = a.tiles.width * a.grid.width, height = a.tiles.height * a.grid.height;
    ShownRows s{0, width, 0, height};
    if (!a.newline) {
        return s;
    }
    const double across = a.image.width, down = a.image.height;
    if (across / down > to_double(width) / height) {
        const auto inner = static_cast<int32_t>(down * (width / across));
        s.top = (height - inner) / 2;
        s.bottom = height - s.top;
    } else {
        const auto inner = static_cast<int32_t>(across * (height / down));
        s.left = (width - inner) / 2;
        s.right = width - s.left;
    }
    return s;
}

} // namespace

int32_t Arrangement::n_rows() const {
    const int32_t n_tiles = tiles.width * tiles.height;
    if (n_tiles == 0 || !unpad) {
        return rows_of_view * (1 + n_tiles);
    }
    const ShownRows s = shown(*this);
    return rows_of_view + (s.bottom - s.top) * (s.right - s.left + (newline ? 1 : 0));
}

std::vector<float> arrange(const Arrangement& a, std::span<const float> views, std::span<const float> newline, size_t width) {
    if (a.tiles.width * a.tiles.height == 0 || !a.unpad) {
        return {views.begin(), views.end()};
    }
    std::vector<float> rows;
    rows.reserve(a.n_rows() * width);
    const auto add = [&](std::span<const float> more) { rows.insert(rows.end(), more.begin(), more.end()); };
    const auto view_size = a.rows_of_view * width;
    add(views.first(view_size));
    const ShownRows s = shown(a);
    for (int32_t y = s.top; y < s.bottom; ++y) {
        for (int32_t x = s.left; x < s.right; ++x) {
            const size_t tile = (y / a.grid.height) * a.tiles.width + x / a.grid.width;
            const auto row = (y % a.grid.height) * a.grid.width + x % a.grid.width;
            add(views.subspan((1 + tile) * view_size + row * width, width));
        }
        if (a.newline) {
            add(newline);
        }
    }
    return rows;
}

} // namespace schedscope::vision
