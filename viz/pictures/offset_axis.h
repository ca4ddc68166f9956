#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

/// Offsets in a buffer as heights in a picture. Long ranges in which nothing lies (a decode in memory laid out for a whole
/// prompt) are folded to thin strips, so that what is there stays legible; the rest keeps one scale.
class OffsetAxis {
public:
    struct Tick {
        int64_t offset;    ///< bytes
        double y;          ///< points from the buffer's beginning
        std::string label; ///< "1.25 MiB": exact, or in three digits where a stretch or the buffer just happens to lie there
    };
    struct Fold {
        int64_t first, end; ///< bytes in which nothing lies
        double bottom, top;
    };

    /// used: [first, end) of everything that lies there, in any order, overlapping as they will; size: of the buffer. Points: the
    /// height of the picture.
    OffsetAxis(std::vector<std::pair<int64_t, int64_t>> used, int64_t size, double points);

    double y(int64_t offset) const;
    const std::vector<Fold>& folds() const noexcept { return folds_; }
    /// Offsets worth writing at the side, from the beginning up, at least `apart` points from each other: round ones, where a
    /// stretch behind a fold begins, and the buffer's end.
    std::vector<Tick> ticks(double apart) const;

private:
    int64_t size_;
    double points_;
    double scale_ = 0; ///< points per byte, outside the folds
    std::vector<Fold> folds_;
};

} // namespace schedscope
