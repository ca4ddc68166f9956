#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace schedscope {

struct Candidate {
    int32_t id = 0;
    float logit = 0; ///< −∞: never chosen
    float p = 0;     ///< valid after `softmax`
};

/// The tokens that may still be chosen. Samplers narrow and change it in place; the storage is kept from token to token.
class Candidates {
public:
    std::vector<Candidate> items;
    size_t n_sorted = 0; ///< items[0, n_sorted) are the most likely ones, likeliest first; equal logits: lower id first
    int32_t chosen = -1; ///< the token, once a sampler chose

    /// All of the vocabulary, in order of id. Throws Error(device) when a logit is NaN; so does the other.
    void fill(std::span<const float> logits);
    /// What a graph kept; a logit of −∞ was not. sorted: they are in falling order, as sort_first leaves them.
    void fill(std::span<const int32_t> ids, std::span<const float> logits, bool sorted);
    /// Makes n_sorted at least min(n, items.size()).
    void sort_first(size_t n);
    /// Keeps items[0, n); they are sorted first.
    void keep_first(size_t n);
    /// Sets p of every item. Throws Error(device) when no item has a finite logit.
    void softmax();
    /// After `softmax`: chooses the first item that the probabilities up to it sum up to more than u, 0 ≤ u < 1.
    void choose(double u) noexcept;
};

} // namespace schedscope
