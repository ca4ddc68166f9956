#include "tests/support/random/shuffle.h"

#include <algorithm>

namespace schedscope::test {

namespace {

const Tensor* root(const Tensor* t) { return t->view_source != nullptr ? t->view_source : t; }

/// Does `a` read or write what `b` writes? Views count as if they did.
bool speaks_of(const Tensor& a, const Tensor& b) {
    return root(&a) == root(&b) ||
           std::any_of(a.src.begin(), a.src.end(), [&](const Tensor* s) { return s != nullptr && root(s) == root(&b); });
}

} // namespace

void shuffle(std::vector<Tensor*>& nodes, std::mt19937& random) {
    for (size_t exchanges = nodes.size() * 2; exchanges > 0 && nodes.size() > 1; --exchanges) {
        const size_t i = random() % (nodes.size() - 1);
        if (!speaks_of(*nodes[i], *nodes[i + 1]) && !speaks_of(*nodes[i + 1], *nodes[i])) {
            std::swap(nodes[i], nodes[i + 1]);
        }
    }
}

} // namespace schedscope::test
