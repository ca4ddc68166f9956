#pragma once

#include <array>
#include <string_view>

namespace schedscope {

/// What inspector and report call their views, in the order of their tabs and keys: the n-th from 1 opens with the key n, the
/// tenth with 0. A face that lacks one leaves its place and its key free.
inline constexpr std::array<std::string_view, 10> view_names{"nodes",    "splits", "copies",  "fusion",  "memory",
                                                             "timeline", "tokens", "what-if", "queries", "values"};

} // namespace schedscope
