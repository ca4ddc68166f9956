#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What stands above a picture: the model, the moment, totals and a legend.
namespace schedscope {

class Subject;

/// A row of the legend that explains a sign of the view.
struct LegendSign {
    std::string sign, meaning;
};

inline const LegendSign changed_sign{"●",
                                     "and a thick outline: changed in this pass"}; ///< where a subject's `changed_from` is known

/// Title, moment and totals, then one row a backend (chip, name, what it is, its share), then a row a sign; an HTML-like table
/// for the graph's label. shares: of each backend, [n_backends] or one more for the unassigned; empty: none is told. "" when the
/// subject has no heading.
std::string heading_markup(const Subject& subject, const std::string& totals, const std::vector<std::string>& shares,
                           const std::vector<LegendSign>& signs);

/// "33 copies of 337 KiB, of which 299 KiB were moved": what the inputs of a plan's splits hold, and where the evaluation that is
/// shown moved less, how much.
std::string copies_in_words(const Subject& subject);

/// How many nodes each backend has, and one number behind: the unassigned, or those of which that is not known. [n_backends + 1]
std::vector<int64_t> nodes_per_backend(const Subject& subject);
std::vector<std::string> node_shares(const Subject& subject); ///< the same as words: "12 nodes"

} // namespace schedscope
