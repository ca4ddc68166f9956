#pragma once

#include "runtime/planner/records.h"

#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// How one backend is drawn. Colours are tints of the Okabe–Ito set, told apart with any colour vision, light enough for dark
/// text; the letter says the same without colour.
struct BackendStyle {
    std::string letter;    ///< "V", or "V0" where another backend begins with V as well
    std::string_view fill; ///< of a node, "#rrggbb"
    std::string_view pale; ///< of an area behind nodes
    std::string_view line; ///< of a border, dark
};

class Palette {
public:
    explicit Palette(const SessionInfo& session);
    /// no_backend (and any unknown one): the style of the unassigned.
    const BackendStyle& operator[](BackendId backend) const noexcept;

private:
    std::vector<BackendStyle> styles_;
    BackendStyle unassigned_;
};

} // namespace schedscope
